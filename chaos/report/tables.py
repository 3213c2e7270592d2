"""The tables of the page: faults × results over all series, and each fault of a series with what it did to it.

Written as plain HTML, so that the words stand there without any script. Every text goes through `safe`.
"""

import html

import words
from violations import listed, real

VIOLATIONS_LISTED = 40  # of a series; the drawing has them all


def safe(value):
    return html.escape(str(value), quote=True)


def mark(kind, label=None):
    """A mark that is told apart by its shape, not by colour alone."""
    shapes = {words.HELD: "✓", words.BROKEN: "✗", words.TOLD: "•", words.UNKNOWN: "?"}
    named = {words.HELD: "held", words.BROKEN: "broken", words.TOLD: "shown", words.UNKNOWN: "unknown"}
    return f'<span class="mark {kind}" role="img" aria-label="{label or named[kind]}">{shapes[kind]}</span>'


def by_kind(past):
    kinds = {}
    for fault in past.faults.values():
        kinds.setdefault(fault["kind"], []).append(fault)
    return kinds


def general(fault, packed):
    """What a fault does, without the nodes and clients that this one was done to: "node 3: kill -9" says "kill -9"."""
    who, colon, what = fault["says"].partition(": ")
    known = {node["label"] for node in packed["nodes"]} | {str(client) for client in fault["clients"]} | {"all"}
    return what if colon and all(one in known for one in who.split(", ")) else fault["says"]


def matrix(everything):
    """Rows: kinds of fault; columns: series. everything: [(series, past, verdict, packed)]."""
    kinds = {}
    for _, past, _, packed in everything:
        for kind, faults in by_kind(past).items():
            kinds.setdefault(kind, general(faults[0], packed))
    if not kinds:
        return "<p>No fault was made in this run.</p>"
    heads = "".join(f'<th scope="col"><a href="#series-{index}">{safe(series["id"])}</a></th>'
                    for index, (series, *_) in enumerate(everything))
    rows = []
    for kind, says in kinds.items():
        cells = "".join(matrix_cell(index, kind, *one) for index, one in enumerate(everything))
        head = f"{safe(words.kind_in_words(kind))}<small>{safe(says)}</small>"
        rows.append(f'<tr><th scope="row">{head}</th>{cells}</tr>')
    return (f'<div class="scroll"><table class="matrix"><thead><tr><th scope="col">fault</th>{heads}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div>')


def matrix_cell(index, kind, series, past, verdict, packed):
    faults = by_kind(past).get(kind)
    if not faults:
        return '<td class="none">–</td>'
    names = {fault["id"] for fault in faults}
    found = [place for place in real(packed["violations"]) if packed["violations"][place]["fault"] in names]
    if verdict is None:
        return f'<td>{mark(words.UNKNOWN)} {len(faults)}×</td>'
    if not found:
        if series["expect"] == "clean":
            return f'<td>{mark(words.HELD)} {len(faults)}×, held</td>'
        return f'<td>{mark(words.TOLD, "no violation")} {len(faults)}×</td>'
    said = words.count(len(found), "violation")
    return (f'<td>{mark(words.bad(series))} {len(faults)}×, '
            f'<a class="jump" href="#v-{index}-{found[0]}">{said}</a></td>')


PHASES = ("before", "during", "after")


def faults_of(index, past, verdict, packed):
    """Each fault of a series: what it was, its proof, and rates and waits around it."""
    phases = {phase.get("fault"): phase for phase in listed(verdict, "phases")}
    away = {row.get("fault"): row for row in listed(verdict, "availability")}
    judged = {row.get("id"): row for row in listed(verdict, "faults")}
    rows = []
    for place, fault in enumerate(packed["faults"]):
        phase = phases.get(fault["id"], {})
        rows.append(
            f'<tr><th scope="row"><a class="jump" href="#f-{index}-{place}">{safe(fault["id"])}</a></th>'
            f'<td class="wide">{safe(words.kind_in_words(fault["kind"]))}<small>{safe(fault["says"])}</small></td>'
            f'<td class="n">{"never ended" if fault["unended"] else words.duration(fault["to"] - fault["from"])}</td>'
            + "".join(triple(phase, field) for field in ("per_s", "wait_p50_us", "wait_p99_us"))
            + f'<td class="n">{words.duration(phase.get("first_grant_after_heal_us"))}</td>'
            f'<td class="n">{share(away.get(fault["id"]))}</td>{proof(fault, judged.get(fault["id"]))}</tr>')
    heads = "".join(f'<th scope="col">{head}<small>{unit}</small></th>' for head, unit in (
        ("fault", ""), ("what was done", ""), ("lasted", ""), ("grants per second", "before / during / after"),
        ("median wait", "before / during / after"), ("99 % waited less than", "before / during / after"),
        ("first grant", "after it healed"), ("quick grants", "within 3 × healthy median"),
        ("proof", "that it took effect")))
    return (f'<div class="scroll tall"><table class="faults"><thead><tr>{heads}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div>')


def triple(phase, field):
    values = [phase.get(name, {}).get(field) for name in PHASES]
    if all(value is None for value in values):
        return '<td class="n">–</td>'
    if field == "per_s":
        shown = ["–" if value is None else f"{value:.3g}" for value in values]
    else:
        shown = [words.duration(value) for value in values]
    return f'<td class="n">{" / ".join(shown)}</td>'


def share(row):
    if not row or row.get("tried", 0) <= 0 or "granted_within_3x_median" not in row:
        return "–"
    return f'{100 * row["granted_within_3x_median"] / row["tried"]:.1f} %'


def proof(fault, judged):
    said = fault["proof"] or (judged or {}).get("proof") or ""
    if not said or (judged and not judged.get("ok", True)):
        return f'<td class="wide">{mark(words.BROKEN)} {safe(said or "none")}</td>'
    return f'<td class="wide">{safe(said)}</td>'


def violation_list(index, packed, series):
    """Links to the red intervals, with what happened there."""
    found = packed["violations"]
    if not found:
        return ""
    items = [f'<li><a class="jump {one["kind"]}" href="#v-{index}-{place}">{safe(violation_words(one))}</a></li>'
             for place, one in enumerate(found[:VIOLATIONS_LISTED])]
    more = len(found) - len(items)
    if more:
        items.append(f'<li class="more">and {words.number(more)} more: step through them above the drawing</li>')
    opened = " open" if series["expect"] == "clean" or len(found) <= 8 else ""
    return (f'<details class="violations"{opened}><summary>{how_many(found)}, '
            f'each a link to its place in the drawing</summary><ol>{"".join(items)}</ol></details>')


def how_many(found):
    broken = len(real(found))
    stalls = len(found) - broken
    counted = [words.count(broken, "violation")] if broken else []
    return " and ".join(counted + ([words.count(stalls, "stall")] if stalls else []))


def violation_words(one):
    at = f'{one["from"] / 1e6:.3f} s'
    lasted = words.duration(one["to"] - one["from"])
    whose = " and ".join(f"{worker} #{ident}" for worker, ident, _ in one["whose"])
    during = f', fault {one["fault"]}' if one["fault"] else ""
    if one["kind"] == "overlap":
        return f'{at}: {whose} both held {one["name"]} for {lasted}{during}'
    if one["kind"] == "inversion":
        fences = " then ".join(str(fence) for _, _, fence in one["whose"])
        return f'{at}: fencing numbers of {one["name"]} went the wrong way ({fences}: {whose}){during}'
    if one["kind"] == "stall":
        return f'{at}: {one["name"]} was wanted but not granted for {lasted} though a quorum could vote{during}'
    return f'{at}: {one["what"] or one["kind"]} ({whose}){during}'
