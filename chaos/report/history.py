"""Turns the events of one series into what a page can draw: sections, node states, faults, and times of processes.

A section is one acquire call and all that followed from it. Its claim is what the judge counts too: from the grant to the
first of release, loss, death of the process, and the end of validity as last extended. The page only draws; whether two
claims may overlap is for the judge alone, so nothing is judged here.
"""

from sys import intern  # names come a million times over, each from a line of its own

from shapes import whole

UNANSWERED, FAILED, GRANTED = range(3)
RELEASED, EXPIRED, LOST, DIED = range(4)


class Section:
    __slots__ = ("process", "thread", "id", "name", "wait", "answered", "fate", "error", "until", "fence", "token",
                 "end", "why", "done", "result", "extends", "writes", "file")

    def __init__(self, thread, ident, name, wait, file):
        self.process, self.thread, self.name = intern(process_of(thread)), intern(thread), intern(name)
        self.id, self.wait = ident, wait
        self.answered, self.fate, self.error = None, UNANSWERED, ""
        self.until = self.fence = self.end = self.why = self.done = None
        self.token = self.result = ""
        self.extends = 0
        self.writes = ()  # of (t, to, ok)
        self.file = file


def process_of(worker):
    return worker.rsplit(".", 1)[0]


def text(event, field, default=""):
    value = event.get(field, default)
    return value if isinstance(value, str) else str(value)


class History:
    """Everything of one series, filled event by event."""

    def __init__(self, notes):
        self.notes = notes
        self.sections = []
        self.open = {}  # process -> id -> its latest section: a process that was restarted may count anew
        self.workers = {}  # process -> its first event
        self.last_of_file = {}
        self.lives = {}  # process -> [first, last] of what it wrote down
        self.faults, self.scenarios = {}, []
        self.nodes, self.quorum, self.left = {}, [], []
        self.process_marks = []  # (t, process, what)
        self.first = self.last = None
        self.handlers = {
            "worker": self.on_worker, "wait": self.on_wait, "grant": self.on_grant, "fail": self.on_fail,
            "extend": self.on_extend, "release": self.on_release, "released": self.on_released, "lost": self.on_lost,
            "write": self.on_write, "scenario": self.on_scenario, "fault": self.on_fault, "node": self.on_node,
            "died": self.on_process, "stopped": self.on_process, "continued": self.on_process,
            "quorum": self.on_quorum, "keys": self.on_keys}

    def add(self, file, event):
        t = event["t"]
        handler = self.handlers.get(event["e"])
        if handler is None:
            self.notes.add(f"events/{file}: an event of unknown kind {event['e'][:40]!r} was left out")
            return
        try:
            handler(t, event, file)
        except (KeyError, TypeError, ValueError):
            self.notes.add(f"events/{file}: an event {event['e']!r} lacks a field or has an odd one, and was left out")
            return
        self.first = t if self.first is None else min(self.first, t)
        self.last = t if self.last is None else max(self.last, t)
        self.last_of_file[file] = t
        if "w" in event and handler != self.on_process:
            life = self.lives.setdefault(process_of(text(event, "w")), [t, t])
            life[:] = min(life[0], t), max(life[1], t)

    # -- workers

    def on_worker(self, t, event, file):
        self.workers.setdefault(text(event, "w"), event)

    def on_wait(self, t, event, file):
        section = Section(text(event, "w"), event["id"], text(event, "name"), t, file)
        if not whole(section.id) or not section.thread:
            raise ValueError
        self.sections.append(section)
        self.open.setdefault(section.process, {})[section.id] = section

    def of(self, event):
        return self.open[process_of(text(event, "w"))][event["id"]]

    def on_grant(self, t, event, file):
        if event["id"] not in self.open.get(process_of(text(event, "w")), {}):
            self.on_wait(t, event, file)  # its own line was torn; the grant says all that matters
        section = self.of(event)
        section.answered, section.fate = t, GRANTED
        section.token = text(event, "token")[:16]
        section.until = event["until"] if whole(event.get("until")) else None
        section.fence = event["fence"] if whole(event.get("fence")) else None

    def on_fail(self, t, event, file):
        section = self.of(event)
        section.answered, section.fate, section.error = t, FAILED, intern(text(event, "error", "unknown"))

    def on_extend(self, t, event, file):
        section = self.of(event)
        section.extends += 1
        if whole(event.get("until")):
            section.until = max(section.until or 0, event["until"])

    def ends(self, section, t, why):
        if section.end is None:
            section.end, section.why = t, why

    def on_release(self, t, event, file):
        self.ends(self.of(event), t, RELEASED)

    def on_released(self, t, event, file):
        section = self.of(event)
        section.done, section.result = t, intern(text(event, "result"))

    def on_lost(self, t, event, file):
        self.ends(self.of(event), t, LOST)

    def on_write(self, t, event, file):
        self.of(event).writes += ((t, intern(text(event, "to")), bool(event.get("ok"))),)

    # -- harness

    def on_scenario(self, t, event, file):
        if event["what"] == "begin":
            self.scenarios.append({"scenario": text(event, "scenario"), "title": text(event, "title"),
                                   "from": t, "to": None})
            return
        for scenario in reversed(self.scenarios):
            if scenario["scenario"] == text(event, "scenario") and scenario["to"] is None:
                scenario["to"] = t
                return

    def on_fault(self, t, event, file):
        fault = self.faults.setdefault(text(event, "id"), {
            "id": text(event, "id"), "kind": "", "nodes": [], "clients": [], "says": "", "proof": "",
            "from": t, "to": None})
        for field in ("kind", "says", "proof"):
            fault[field] = text(event, field) or fault[field]
        for field in ("nodes", "clients"):
            if isinstance(event.get(field), list):
                fault[field] = event[field]
        if event["what"] == "end":
            fault["to"] = t

    def on_node(self, t, event, file):
        self.nodes.setdefault(event["node"], []).append((t, text(event, "state"), text(event, "role", "master")))

    def on_process(self, t, event, file):
        self.process_marks.append((t, text(event, "w"), event["e"]))

    def on_quorum(self, t, event, file):
        if whole(event["ready"]):
            self.quorum.append((t, event["ready"]))

    def on_keys(self, t, event, file):
        self.left = [str(key) for key in event.get("left", [])]

    # -- at the end

    def finish(self):
        """Claims end where validity or the process did; a call without an answer waits until its process is no more."""
        deaths = {}
        for t, process, what in sorted(self.process_marks):
            if what == "died":
                deaths.setdefault(process, []).append(t)
        for section in self.sections:
            died = next((t for t in deaths.get(section.process, ()) if t >= section.wait), None)
            if section.fate == UNANSWERED:
                section.answered = max(section.wait, died or self.last_of_file.get(section.file, section.wait))
            elif section.fate == GRANTED:
                finish_claim(section, died, self.last_of_file.get(section.file, section.wait))
        self.sections.sort(key=lambda section: (lane_order(section.thread), section.wait))
        return self


def finish_claim(section, died, last):
    ends = [(section.end, section.why), (died, DIED), (section.until, EXPIRED)]
    section.end, section.why = min(((t, why) for t, why in ends if t is not None), default=(last, EXPIRED))
    section.end = max(section.end, section.answered)


def lane_order(thread):
    """w2 before w10."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in split_digits(thread))


def split_digits(word):
    parts, run = [], ""
    for letter in word:
        if run and letter.isdecimal() != run[-1].isdecimal():
            parts.append(run)
            run = ""
        run += letter
    return parts + [run] if run else parts
