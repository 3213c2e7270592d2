"""The table of README.md from the folder of a run: each kind of fault, and what became of the promises meanwhile."""
import json
import sys
from collections import defaultdict

HEAD = ("| fault | times | overlaps | inversions | grants a second before, during, after | slowest first grant after a heal |\n"
        "|---|---|---|---|---|---|")


def mean(values):
    return f"{sum(values) / len(values):.0f}" if values else "-"


def rows(verdict, kinds):
    """A row for each kind: violations are ascribed to the fault that the judge ascribes them to."""
    times, rates, firsts, broken = defaultdict(int), defaultdict(lambda: ([], [], [])), {}, defaultdict(lambda: [0, 0])
    for fault in verdict["faults"]:
        times[fault["kind"]] += 1
    for phase in verdict["phases"]:
        kind = kinds[phase["fault"]]
        for column, when in zip(rates[kind], ("before", "during", "after")):
            column.append(phase[when]["per_s"])
        first = phase["first_grant_after_heal_us"]
        if first is not None:
            firsts[kind] = max(firsts.get(kind, 0), first)
    for column, what in enumerate(("overlaps", "inversions")):
        for one in verdict[what]:
            broken[kinds.get(one.get("fault"), "none")][column] += 1
    for kind in sorted(times):
        first = f"{firsts[kind] / 1e3:.0f} ms" if kind in firsts else "-"
        overlaps, inversions = broken[kind]
        yield (f"| {kind} | {times[kind]} | {overlaps} | {inversions} | {', '.join(map(mean, rates[kind]))} | {first} |")


def table_of(run, verdicts):
    for series in run["series"]:
        verdict = verdicts[series["id"]]
        counts = ", ".join(f"{len(verdict[what])} {what}" for what in ("overlaps", "inversions", "leftovers", "validity"))
        yield f"\n**{series['title']}**: {verdict['sections']} sections, {counts}\n"
        yield HEAD
        yield from rows(verdict, {f["id"]: f["kind"] for f in verdict["faults"]})


def print_table(folder):
    try:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        verdicts = {s["id"]: json.loads((folder / "series" / s["id"] / "verdict.json").read_text(encoding="utf-8"))
                    for s in run["series"]}
        lines = list(table_of(run, verdicts))
    except (OSError, ValueError, KeyError, TypeError) as fault:
        print(f"chaos/run: --table: {folder} is not the folder of a run that is over: "
              f"{type(fault).__name__}: {fault}", file=sys.stderr)
        return 65
    print("\n".join(lines))
    return 0
