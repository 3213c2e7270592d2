"""Puts the page together: words and tables as HTML, the packed series, our style and scripts, and D3.

The page loads nothing: its content security policy forbids it, so that a report can be opened from an archive years later
and cannot tell anyone that it was opened.
"""

import os

import tables
import words
from shared.standalone import assemble
from tables import safe
from violations import real

OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
SCRIPTS = ("format.js", "data.js", "paint.js", "lanes.js", "lane_paint.js", "latency.js", "marks.js", "hover.js", "zoom.js",
           "overview.js", "timeline.js", "main.js")


def build(run, notes, everything, d3):
    """everything: [(series, past, verdict, described, packed text, notes)]."""
    chips = [words.chip(series, verdict) for series, _, verdict, *_ in everything]
    overall = words.overall(chips)
    parts = {
        "overall_class": overall[0],
        "overall": tables.mark(overall[0]) + " " + safe(overall[1]),
        "facts": facts(run, everything),
        "notes": unread(notes),
        "summary": "".join(card(index, chips[index], *one) for index, one in enumerate(everything)),
        "matrix": tables.matrix([one[:4] for one in everything]),
        "series": "".join(block(index, chips[index], *one) for index, one in enumerate(everything)),
    }
    data = "".join(f'<script type="text/plain" id="data-{index}">{one[4]}</script>\n' for index, one in enumerate(everything))
    return assemble(OWN, safe(f"redlock chaos report, {run.get('wall_began') or 'undated'}"), parts, data, SCRIPTS, d3)


def facts(run, everything):
    lasted = run["ended_us"] - run["began_us"] if "began_us" in run and "ended_us" in run else None
    known = [("began", run.get("wall_began", "?").replace("T", " ").replace("Z", " UTC")),
             ("lasted", words.duration(lasted)),
             ("nodes", f"{len(run.get('nodes', []))} in {run.get('mode', 'unknown mode')}"),
             ("seed", run.get("seed", "?")),
             ("asked for a lock", words.count(sum(len(one[1].sections) for one in everything), "time")),
             *run.get("versions", {}).items()]
    listed = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in known)
    command = run.get("command")
    again = f'<p class="command">Run it again: <code>{safe(command)}</code></p>' if command else ""
    return f'<dl class="facts">{listed}</dl>{again}'


def unread(notes):
    lines = "".join(f"<li>{safe(line)}</li>" for line in notes.all())
    return f'<div class="notes"><h3>What could not be read</h3><ul>{lines}</ul></div>' if lines else ""


def promises(series, verdict):
    lines = "".join(f"<li>{tables.mark(mark)} <span>{safe(line)}</span></li>"
                    for mark, line in words.held(series, verdict))
    return f'<ul class="promises">{lines}</ul>'


def card(index, chip, series, past, verdict, described, *_):
    found = real(described["violations"])
    jump = f'<a href="#series-{index}">Go to the drawing</a>'
    if found:
        first = f'the first of {words.count(len(found), "violation")}' if len(found) > 1 else "the violation"
        jump = f'<a class="jump" href="#v-{index}-{found[0]}">Go to {first}</a>'
    return (f'<article class="card {chip[0]}"><h3>{safe(series["title"])}</h3>'
            f'<p class="chip {chip[0]}">{tables.mark(chip[0])} {safe(chip[1])}</p>'
            f'<p class="tried">{safe(words.tried(past))}</p>'
            f'{promises(series, verdict)}<p class="go">{jump}</p></article>')


def block(index, chip, series, past, verdict, described, _, notes):
    left = (verdict or {}).get("leftovers") or past.left
    left = f'<p class="left">Left behind: {", ".join(safe(key) for key in left[:20])}</p>' if left else ""
    thinned = described["left_out"]
    thinned = (f'<p class="thinned">This series is long: {words.number(thinned)} sections without a violation are left '
               "out of the drawing, evenly; the words and tables count them all.</p>") if thinned else ""
    made = words.count(len(described["faults"]), "fault")
    faults = (f'<details class="faults-of"><summary>{made}, one by one</summary>'
              f'{tables.faults_of(index, past, verdict, described)}</details>') if described["faults"] else ""
    return (f'<section class="series" id="series-{index}" data-series="{index}"><h2>{safe(series["title"])} '
            f'<span class="chip {chip[0]}">{tables.mark(chip[0])} {safe(chip[1])}</span></h2>'
            f'{unread(notes)}{left}{tables.violation_list(index, described, series)}{faults}{thinned}'
            f'<div class="timeline" data-series="{index}"><p class="loading">The drawing needs JavaScript.</p></div>'
            '</section>')
