"""Packs a history for the page: one JSON object per series, gzip, base64.

Sections are columns, not rows, and times are differences in microseconds: the digits that remain are few and alike, so
that gzip leaves about fifteen bytes of a section. JSON is kept beneath because both sides have a fast reader of it.
"""

import base64
import gzip
import json

import history
from violations import claims_in, find_violations, key_of

SECTIONS_DRAWN = 400_000  # of one series: about 8 MB of page and half a second of drawing; a soak of days has more


def pack(one):
    """ASCII that the page can hold as it is, whatever the names in it are."""
    raw = json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    # The time in the header would make two pages of one run differ.
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()


class Index:
    """Texts by number, in the order in which they were met."""

    def __init__(self):
        self.texts, self.numbers = [], {}

    def __call__(self, word):
        number = self.numbers.get(word)
        if number is None:
            number = self.numbers[word] = len(self.texts)
            self.texts.append(word)
        return number


def describe(series, verdict, past, run, limit=SECTIONS_DRAWN):
    """The whole series as the page's script reads it (page/data.js); times count from `began`."""
    began = past.first if past.first is not None else 0
    last = past.last if past.last is not None else began
    sections = thin(past, verdict, limit)
    place = {id(section): number for number, section in enumerate(sections)}
    violations = find_violations(verdict, past, place, began)
    span = max([last - began, 1] + [violation["to"] for violation in violations])
    return {
        "id": series["id"], "title": series["title"], "began": began, "span": span,
        "left_out": len(past.sections) - len(sections),
        "groups": groups(past, sections, began),
        "columns": columns(sections, began),
        "nodes": node_lanes(past, run, began, span),
        "faults": fault_rows(past.faults.values(), began, span),
        "scenarios": fault_rows(past.scenarios, began, span),
        "quorum": [[t - began, ready] for t, ready in sorted(past.quorum)],
        "stops": stops(past, began, span),
        "violations": violations,
    }


def thin(past, verdict, limit):
    """Beyond the limit every k-th section, and all that are part of a violation or wrote after their claim."""
    if len(past.sections) <= limit:
        return past.sections
    named = {key_of(claim) for claim in claims_in(verdict)}
    step = len(past.sections) / limit
    return [section for number, section in enumerate(past.sections)
            if int(number / step) != int((number - 1) / step) or late_writes(section)
            or (section.process, section.id) in named]


def late_writes(section):
    """Writes after the claim's end: what a fencing register is there to refuse."""
    if section.fate != history.GRANTED:
        return []
    return [write for write in section.writes if write[0] > section.end]


def groups(past, sections, began):
    """Processes and their threads, with how many sections each thread has: the columns are in this very order."""
    found = {}
    for section in sections:
        threads = found.setdefault(section.process, {})
        threads[section.thread] = threads.get(section.thread, 0) + 1
    lanes = []
    for process, threads in found.items():
        first = past.workers.get(process, {})
        life = past.lives.get(process, (began, began))
        lanes.append({
            "name": process, "client": history.text(first, "client", "?"), "guard": bool(first.get("guard")),
            "fencing": bool(first.get("fencing")), "from": life[0] - began, "to": life[1] - began,
            "threads": [{"name": name, "count": count} for name, count in threads.items()]})
    return lanes


def columns(sections, began):
    names, errors, results = Index(), Index(), Index()
    out = {field: [] for field in ("id", "name", "wait", "took", "fate", "error", "held", "why", "until", "fence",
                                   "done", "result", "extends", "writes", "token")}
    late = []
    thread, ident, wait, fence = None, 0, 0, 0
    for number, section in enumerate(sections):
        if section.thread != thread:
            thread, ident, wait = section.thread, 0, began
        granted = section.fate == history.GRANTED
        out["id"].append(section.id - ident)
        out["name"].append(names(section.name))
        out["wait"].append(section.wait - wait)
        out["took"].append(section.answered - section.wait)
        out["fate"].append(section.fate)
        out["error"].append(errors(section.error))
        out["held"].append(section.end - section.answered if granted else 0)
        out["why"].append(section.why if granted else 0)
        out["until"].append(section.until - section.answered if granted and section.until is not None else 0)
        # null: without a fencing number. The next difference counts from the last that had one.
        out["fence"].append(None if section.fence is None else section.fence - fence)
        out["done"].append(-1 if section.done is None else max(0, section.done - section.end) if granted else -1)
        out["result"].append(results(section.result))
        out["extends"].append(section.extends)
        out["writes"].append(len(section.writes))
        out["token"].append(section.token)
        late.extend([number, t - began, to, int(ok)] for t, to, ok in late_writes(section))
        ident, wait = section.id, section.wait
        fence = fence if section.fence is None else section.fence
    out["token"] = " ".join(token.replace(" ", "_") for token in out["token"])
    return {**out, "names": names.texts, "errors": errors.texts, "results": results.texts, "late": late}


def node_lanes(past, run, began, span):
    known = {node["id"]: node for node in run.get("nodes", []) if "id" in node}
    numbers = list(known) + sorted((node for node in past.nodes if node not in known), key=str)
    if past.nodes:  # a series may use some of the nodes alone
        numbers = [number for number in numbers if number in past.nodes]
    lanes = []
    for number in numbers:
        node = known.get(number, {})
        spans = []
        for t, state, role in sorted(past.nodes.get(number, ())):
            if spans and spans[-1][1:] == [state, role]:
                continue
            spans.append([t - began, state, role])
        lanes.append({"id": number, "label": node.get("label") or f"node {number}",
                      "address": node.get("address", ""), "spans": spans})
    return lanes


def fault_rows(found, began, span):
    """Bands with a row each, so that none hides another that lasts at the same time."""
    ends = []
    rows = []
    for band in sorted(found, key=lambda band: band["from"]):
        begin = band["from"] - began
        end = span if band["to"] is None else max(begin, band["to"] - began)
        row = next((row for row, last in enumerate(ends) if last <= begin), len(ends))
        ends[row:row + 1] = [end]
        rows.append({**band, "from": begin, "to": end, "row": row, "unended": band["to"] is None})
    return rows


def stops(past, began, span):
    """Spans in which a process was stopped (SIGSTOP), and the moments at which one was killed."""
    spans, since = [], {}
    for t, process, what in sorted(past.process_marks):
        begun = since.pop(process, None)
        if begun is not None:
            spans.append({"process": process, "what": "stopped", "from": begun, "to": t - began})
        if what == "stopped":
            since[process] = t - began
        elif what == "died":
            spans.append({"process": process, "what": "died", "from": t - began, "to": t - began})
    spans += [{"process": process, "what": "stopped", "from": begun, "to": span} for process, begun in since.items()]
    return spans
