"""Reads what a run left on disk: run.json, the events of each series, and the verdict.

A run directory is written by processes that are killed on purpose, so a torn last line, a missing verdict or an odd event
is expected: each is counted and named on the page, and everything else is still drawn. Only a directory that holds no run
at all is refused (BadRun), since a page about nothing would look like a page about success.
"""

import json
import math
import os

import shapes
from shapes import whole

SERIES_FIELDS = ("id", "title", "expect")
EXPECT = ("clean", "overlaps", "broken", "shown")  # broken: any violation, not only an overlap, must be found
NOTES_SHOWN = 20  # of one series; a page of complaints would hide the run


class BadRun(Exception):
    """One line that says what was wrong, where, and what would be right."""


def refuse(word):
    raise ValueError(f"{word} is no number")


def finite(word):
    return value if math.isfinite(value := float(word)) else refuse(word)


# Python reads NaN, Infinity and 1e999. In an event they would reach the page's script, which chokes on them; verdict and
# run.json are held to their shapes.
DECODER = json.JSONDecoder(parse_constant=refuse, parse_float=finite)


class Notes:
    """What could not be read or understood, for the reader of the page."""

    def __init__(self):
        self.lines = []
        self.more = 0

    def add(self, line):
        if len(self.lines) < NOTES_SHOWN:
            self.lines.append(line)
        else:
            self.more += 1

    def all(self):
        return self.lines + ([f"and {self.more} more of this kind"] if self.more else [])


def read_run(folder, notes):
    path = os.path.join(folder, "run.json")
    if not os.path.isdir(folder):
        raise BadRun(f"{folder}: not a directory; give the directory that chaos/run wrote")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            run = json.load(file)
    except FileNotFoundError:
        raise BadRun(f"{path}: not there; give the directory that chaos/run wrote") from None
    except OSError as error:
        raise BadRun(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadRun(f"{path}: not JSON ({error}); it must be the object that chaos/run writes") from None
    check_run(path, run)
    return {**shapes.fit(run, shapes.RUN, "run.json", notes), "series": run["series"]}


def check_run(path, run):
    if not isinstance(run, dict):
        raise BadRun(f"{path}: must be an object, is {kind(run)}")
    series = run.get("series")
    if not isinstance(series, list) or not series:
        raise BadRun(f"{path}: \"series\" must be a list of at least one series, is {kind(series)}")
    for index, one in enumerate(series):
        where = f"{path}: series[{index}]"
        if not isinstance(one, dict):
            raise BadRun(f"{where}: must be an object, is {kind(one)}")
        for field in SERIES_FIELDS:
            if not isinstance(one.get(field), str) or not one[field]:
                raise BadRun(f"{where}: \"{field}\" must be a text, is {kind(one.get(field))}")
        if one["expect"] not in EXPECT:
            raise BadRun(f"{where}: \"expect\" must be one of {', '.join(EXPECT)}, is {one['expect']!r}")
        if one["id"] in (".", "..") or "/" in one["id"] or "\0" in one["id"]:
            raise BadRun(f"{where}: \"id\" must be the name of a folder in series/, is {one['id']!r}")


def kind(value):
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
             float: "a number"}
    if value is None:
        return "missing"
    return "empty" if value in ("", [], {}) else names[type(value)]


def read_verdict(folder, notes):
    """The judge's words, or None; a page without them is drawn, but says that nobody judged."""
    path = os.path.join(folder, "verdict.json")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            verdict = json.load(file)
    except FileNotFoundError:
        notes.add("verdict.json is missing: nobody has judged this series")
        return None
    except (OSError, ValueError, RecursionError) as error:
        notes.add(f"verdict.json cannot be read ({error}): nobody has judged this series")
        return None
    if not isinstance(verdict, dict):
        notes.add(f"verdict.json must be an object, is {kind(verdict)}: nobody has judged this series")
        return None
    return shapes.fit(verdict, shapes.VERDICT, "verdict.json", notes)


def with_problems(verdict, series, notes):
    """What the harness itself complained of ("problems" of a series in run.json) counts as what the judge did."""
    where = f"run.json: problems of {series['id']}"
    known = shapes.kept(series.get("problems"), shapes.VERDICT["problems"], where, notes)
    found = [problem for problem in (known[0] if known else []) if problem not in (verdict or {}).get("problems", [])]
    if verdict is None:
        for problem in found:
            notes.add(f"the run had a problem: {problem}")
        return None
    return {**verdict, "problems": verdict.get("problems", []) + found}


def read_events(folder, notes):
    """Yields (file name, event) for each event that has a time and a kind."""
    events = os.path.join(folder, "events")
    try:
        names = sorted(name for name in os.listdir(events) if name.endswith(".jsonl"))
    except OSError:
        names = []
    if not names:
        notes.add("there are no events: events/*.jsonl is empty or missing")
    for name in names:
        try:
            with open(os.path.join(events, name), encoding="utf-8", errors="replace") as file:
                yield from read_lines(name, file, notes)
        except OSError as error:
            notes.add(f"events/{name} cannot be read: {error.strerror}")


def read_lines(name, file, notes):
    number = 0
    for number, line in enumerate(file, 1):
        try:
            event = DECODER.decode(line)
        except (ValueError, RecursionError):
            if line.endswith("\n"):
                notes.add(f"events/{name} line {number} is not JSON and was left out")
            else:
                notes.add(f"events/{name}: the last line is torn, as after kill -9, and was left out")
            continue
        if isinstance(event, dict) and whole(event.get("t")) and isinstance(event.get("e"), str):
            yield name, event
        elif line.strip():
            notes.add(f"events/{name} line {number} has no time \"t\" or no kind \"e\" and was left out")
    if number == 0:
        notes.add(f"events/{name} is empty")
