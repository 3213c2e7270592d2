"""Puts the page together: facts, a section for each set with its words and tables as HTML, the results as data for the
drawings, our style and scripts, and D3. It loads nothing."""

import json
import os

import tables
from shared.standalone import assemble
from tables import safe

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ("format.js", "colours.js", "lines.js", "ranges.js", "sets.js", "main.js")
# In the order of the page: (title, what its drawings and figures are, the table)
SETS = {
    "promises": ("Promised ratios", "Each is measured within this run, by turns; the bound is what docs/performance.md promises.",
                 tables.promises),
    "latency": ("Latency", "Acquire and release of one lock that nobody else wants. The dashed lines are bounds of the same run: "
                "the floor sends to all nodes and counts a majority of answers, and does nothing that makes a lock of it; one "
                "node's round trip is the same with a single node. Clients are resident and take turns in small batches. A range "
                "goes from the median over 95 % to 99 %; × compares medians with the floor's, batch by batch.", tables.latency),
    "throughput": ("Throughput", "Workers that each take and give back a lock of their own, as fast as it goes, on one client.",
                   tables.throughput),
    "handover": ("Hand-over", "Processes wait for one lock; from the holder's call of release to the moment when the next has it. "
                 "The dashed line is a bound of the same run: a release's own round trip to a majority.", tables.handover),
    "contention": ("Contention", "Processes, each with workers, take one lock again and again and give it back at once. The curves "
                   "say what share of the waits was over within a time.", tables.contention),
    "holding": ("Holding", "Many leases of one client, kept alive by its watchdog.", tables.holding),
    "waiting": ("Waiting", "Calls of one client that wait for a lock that another process holds and keeps.", tables.waiting),
    "core": ("Machines and codec", "Without any node: processor time and allocations of single steps.", tables.core),
}


def data(results):
    """Nothing in it can end the element that it stands in."""
    return json.dumps(results, allow_nan=False).replace("<", "\\u003c")


def build(results, d3):
    measured = [name for name in SETS if name in results["sets"]]
    missing = [name for name in SETS if name not in results["sets"]]
    parts = {
        "facts": facts(results),
        "warnings": warnings(results),
        "contents": " ".join(f'<a href="#{name}">{safe(SETS[name][0])}</a>' for name in measured),
        "sections": "".join(section(name, results["sets"][name]) for name in measured),
        "missing": not_measured(missing),
    }
    return assemble(os.path.join(HERE, "page"), safe(f"redlock benchmarks, {results.get('began', 'undated')}"), parts,
                    f'<script type="application/json" id="results">{data(results)}</script>', SCRIPTS, d3)


def facts(results):
    machine, versions = results.get("machine", {}), results.get("versions", {})
    known = [("measured", str(results.get("began", "?")).replace("T", " ").replace("Z", " UTC")),
             ("took", f"{results.get('seconds', '?')} s"),
             ("processor", f"{machine.get('cores', '?')} × {machine.get('processor', '?')}"),
             ("memory", f"{machine.get('memory_gib', '?')} GiB"), ("system", machine.get("system", "?")),
             ("kernel", machine.get("kernel", "?")), ("load before", machine.get("load_before", "?")),
             *((name, value) for name, value in versions.items() if value)]
    listed = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in known)
    return f'<dl class="facts">{listed}</dl><p class="hint">Run it again: <code>{safe(results.get("command", "bench/run"))}</code></p>'


def warnings(results):
    lines = []
    if results.get("brief"):
        lines.append("This was a trial with tiny counts: it shows that everything runs, and its figures mean nothing.")
    if results.get("versions", {}).get("build") != "Release":
        lines.append("The programs were not built for release; times are longer than they would be.")
    if results.get("machine", {}).get("load_before", 0) > results.get("machine", {}).get("cores", 1):
        lines.append("The machine was busy with other things before the run began: times are longer, and ratios less sure.")
    left_out = {one.get("left_out") for one in results["sets"].values() if one.get("left_out")}
    lines += [f"The clients from npm were left out: {why}." for why in sorted(left_out)]
    items = "".join(f"<li>{safe(line)}</li>" for line in lines)
    return f'<ul class="notes">{items}</ul>' if items else ""


def section(name, result):
    title, hint, table = SETS[name]
    return (f'<section id="{name}"><h2>{safe(title)}</h2><p class="hint">{safe(hint)}</p>'
            f'<div class="charts" data-set="{name}"></div>{table(result)}</section>')


def not_measured(names):
    if not names:
        return ""
    items = "".join(f"<li>{safe(SETS[name][0])}: <code>bench/run {safe(name)}</code></li>" for name in names)
    return f'<section id="missing"><h2>Not measured in this run</h2><ul>{items}</ul></section>'
