"""The figures behind the drawings, as tables: for those who want the number, and for those who do not see drawings."""

import html

NARROW = "\u202f"


def safe(value):
    return html.escape(str(value))


def micros(us):
    """In the unit that a person would choose, with three digits."""
    if us is None:
        return "–"
    for unit, factor in (("µs", 1), ("ms", 1e3)):
        if abs(us) < 999.5 * factor:
            return f"{float(f'{us / factor:.3g}'):g}{NARROW}{unit}"
    return f"{float(f'{us / 1e6:.3g}'):g}{NARROW}s"


def count(value):
    if value is None:
        return "–"
    return f"{value:,.0f}".replace(",", NARROW)


def figure(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def times(value):
    return "–" if value is None else f"{value:.3f}{NARROW}×"


def percent(value):
    """Whole ones, and two digits of less than one."""
    return "–" if value is None else f"{100 * value:.{0 if value >= 0.01 else 2}f}{NARROW}%"


def table(heads, rows, caption):
    """rows: lists of cells, text or (text, class). The first cell heads its row."""
    top = "".join(f'<th scope="col">{safe(head)}</th>' for head in heads)
    body = "".join("<tr>" + "".join(cell(at, one) for at, one in enumerate(row)) + "</tr>" for row in rows)
    return (f'<details><summary>{safe(caption)}</summary><div class="scroll"><table><thead><tr>{top}</tr></thead>'
            f"<tbody>{body}</tbody></table></div></details>")


def cell(at, one):
    text, kind = one if isinstance(one, tuple) else (safe(one), "")
    return f'<th scope="row">{text}</th>' if at == 0 else f'<td class="{kind}">{text}</td>'


def spread(of):
    return [micros(of[part]) for part in ("p50", "p95", "p99")] if of else ["–"] * 3


def noise(of, what):
    return f"the floor against itself: {times(of[what])}" if of else "noise was not measured"


def promises(result):
    rows = [[row["title"], (f"<b>{row['ratio']:.3f}</b>", "n"), row["bound"],
             ("✓ holds", "good") if row["holds"] else ("✗ missed", "bad"), row["beside"]] for row in result["rows"]]
    return table(["what", "ratio", "bound", "", "beside it"], rows, "Ratios and bounds").replace("<details>", "<details open>")


def latency(result):
    parts = []
    for group in result["groups"]:
        rows = [[m["title"], *spread(m["acquire_us"]), *spread(m["release_us"]), times(m["ratio"]["acquire"]),
                 times(m["ratio"]["pair"]), micros(m["cpu_us"]), count(m["failed"])] for m in group["members"]]
        caption = (f"{group['nodes']} node{'s' if group['nodes'] > 1 else ''}, {group['delay_ms']:g} ms each way; "
                   f"{noise(group['noise'], 'acquire')}")
        parts.append(table(["", "acquire p50", "p95", "p99", "release p50", "p95", "p99", "acquire × floor", "both × floor",
                            "processor, a pair", "failed"], rows, caption))
    return "".join(parts)


def throughput(result):
    parts = []
    for point in result["points"]:
        rows = [[m["title"], count(m["per_s"]), times(m["ratio"]["per_s"]), *spread(m["acquire_us"]), micros(m["cpu_us"]),
                 count(m["failed"])] for m in point["members"]]
        workers = point["workers"]
        parts.append(table(["", "locks/s", "× floor", "acquire p50", "p95", "p99", "processor, a pair", "failed"], rows,
                           f"{workers} worker{'s' if workers > 1 else ''}; {noise(point['noise'], 'per_s')}"))
    return "".join(parts)


def handover(result):
    parts = []
    for point in result["points"]:
        rows = [[m["title"], *spread(m["handover_us"]), micros(m["handover_us"] and m["handover_us"]["max"]),
                 micros(m["release_us"]), figure(m["requests"], 1), shares(m["held"]), count(m["gave_up"])]
                for m in point["members"]]
        parts.append(table(["", "p50", "p95", "p99", "longest", "release", "requests each", "who had it", "waits given up"], rows,
                           f"{point['processes']} processes; bound: {micros(point['bound_us'])}"))
    return "".join(parts)


def contention(result):
    parts = []
    for case in result["cases"]:
        rows = []
        for m in case["members"]:
            if "stuck" in m:
                rows.append([m["title"], (safe(m["stuck"]), "bad")])
                continue
            rows.append([m["title"], count(m["per_s"]), *spread(m["wait_us"]), micros(m["wait_us"] and m["wait_us"]["max"]),
                         figure(m["requests"], 1), shares(m["shares"]), figure(m["apart"]),
                         (count(m["overlaps"]), "bad" if m["overlaps"] else "")])
        parts.append(table(["", "sections/s", "wait p50", "p95", "p99", "longest", "requests each", "share of each process",
                            "most / least", "overlaps"], rows,
                           f"{case['processes']} process{'es' if case['processes'] > 1 else ''} × {case['workers']} "
                           f"worker{'s' if case['workers'] > 1 else ''}"))
    return "".join(parts)


def shares(of):
    """A bar for each process."""
    most, total = max(of, default=0) or 1, sum(of) or 1
    bars = "".join(f'<i style="height:{max(4, round(100 * one / most))}%" title="{100 * one / total:.1f} %"></i>' for one in of)
    return f'<span class="bars">{bars}</span>', "wide"


def holding(result):
    rows = [[c["title"], count(c["leases"]), micros(c["acquire_wall_us"]), f"{count(c['bytes_per_lease'])} B",
             f"{count(c['server_bytes_per_lease'])} B", percent(c["cpu_share"]), percent(c["server_cpu_share"]),
             micros(c["cpu_us_per_extension"]), *[micros(c["late_us"][part]) for part in ("p50", "p99", "max")],
             (count(c["lost"]), "bad" if c["lost"] else "")] for c in result["cases"]]
    return table(["", "leases", "all acquired in", "memory, a lease", "on each server", "processor", "all servers'",
                  "an extension", "late p50", "p99", "longest", "lost"], rows,
                 "What they cost; an extension is due every third of the ttl").replace("<details>", "<details open>")


def waiting(result):
    rows = [[c["title"], count(c["waiters"]), percent(c["cpu_share"]), figure(c["requests_per_s"], 1),
             figure(c["holder_requests_per_s"], 1)] for c in result["cases"]]
    return table(["", "waiters", "processor", "requests/s", "of the holder alone"], rows,
                 "What they cost while nothing happens").replace("<details>", "<details open>")


def core(result):
    rows = [[b["name"], f"{b['ns']:.1f} ns", "–" if b["variation"] is None else f"± {100 * b['variation']:.0f} %",
             "–" if b["allocations"] is None else f"{b['allocations']:.2f}",
             "–" if b["bytes_per_s"] is None else f"{count(b['bytes_per_s'] / 1e6)} MB/s"] for b in result["benchmarks"]]
    return table(["", "processor time", "", "allocations", "bytes"], rows, "Each step")
