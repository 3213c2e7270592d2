#!/usr/bin/env python3
"""The page without a browser: what it says, what it is packed of, and what bad input gets."""

import copy
import json
import os
import random
import re
import unittest

from support import InFolder, MAKE, make, packed, read
from made_up import Run, SECOND
import history
import packing
import page
import reading
import shapes
import tables
from shared import standalone


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Refused(InFolder):
    """Bad input: one line that names the place, the exit code, and no page."""

    def refused(self, code, *says, arguments=None):
        done = make(*(arguments or [self.folder]))
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("make: "), done.stderr)
        for word in says:
            self.assertIn(word, done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if "html" in name], [])

    def test_not_a_run(self):
        self.refused(65, "nowhere", "not a directory", arguments=[self.path("nowhere")])
        self.refused(65, "run.json", "not there")

    def test_run_json(self):
        for text, *says in (("{", "run.json", "not JSON"), ("[]", "object"), ('{"series":[]}', "series", "empty"),
                            ('{"series":{"a":1}}', "series", "an object"), ('{"series":[3]}', "series[0]", "a number"),
                            ('{"series":[{"id":"a","title":"b"}]}', "series[0]", "expect", "missing"),
                            ('{"series":[{"id":"a","title":"b","expect":"bad"}]}', "'bad'", "clean"),
                            ('{"series":[{"id":"../a","title":"b","expect":"clean"}]}', "folder", "'../a'"),
                            ("[" * 100_000, "not JSON")):
            write(self.path("run.json"), text)
            with self.subTest(text[:60]):
                self.refused(65, *says)
        os.unlink(self.path("run.json"))
        os.mkdir(self.path("run.json"))
        self.refused(65, "run.json", "directory")

    def test_usage(self):
        self.refused(64, "RUN_DIR", arguments=["--what"])
        self.refused(64, "RUN_DIR", arguments=[self.folder, "more"])

    def test_no_d3(self):
        self.refused(69, "nothing.js", "node-d3", arguments=[self.folder, "--d3", self.path("nothing.js")])
        self.refused(69, self.folder, "directory", "node-d3", arguments=[self.folder, "--d3", self.folder])
        write(self.path("d3.js"), "// https://d3js.org v7.8.5 Copyright")
        self.refused(69, "D3 7.8.5", "version 5", arguments=[self.folder, "--d3", self.path("d3.js")])
        with open(self.path("d3.js"), "wb") as file:
            file.write(b"\xff\xfe")
        self.refused(69, "d3.js", "not a text", arguments=[self.folder, "--d3", self.path("d3.js")])

    def test_page_cannot_be_written(self):
        write(self.path("run.json"), '{"series":[{"id":"a","title":"b","expect":"clean"}]}')
        self.refused(73, "cannot be written", arguments=[self.folder, "-o", self.path("no", "folder.html")])


class Tolerant(InFolder):
    """What is torn or missing is named on the page, and the rest is there."""

    def test_torn_and_missing(self):
        run = Run(self.folder)
        run.add("torn", "torn", "clean", torn=True, sections=100)
        run.add("unjudged", "unjudged", "clean", verdict=False, sections=100)
        run.series.append({"id": "gone", "title": "gone", "expect": "clean"})
        run.close()
        text = self.make()
        for words in ("last line is torn", "verdict.json is missing", "there are no events", "not judged",
                      "2 of 3 series could not be judged"):
            self.says(text, words)
        self.assertGreater(len(packed(text, 0)["columns"]["wait"]), 100)
        self.assertEqual(packed(text, 2)["columns"]["wait"], [])

    def test_odd_lines(self):
        run = Run(self.folder)
        run.add("a", "a", "clean", sections=100)
        run.close()
        whole = packed(self.make())
        odd = ['nonsense', '[1]', '{"t":"late","e":"wait"}', '{"t":1}', '{"t":9,"e":"news"}', '{"t":5000000009,"e":"grant","w":"w9.1"}',
               '{"t":5000000009,"e":"extend","w":"w9.1","id":[]}', '{"t":5000000009,"e":"node","node":{}}', '{"t":1e400,"e":"wait"}',
               '{"t":5000000009,"e":"node","node":NaN}', '{"t":5000000009,"e":"fault","id":"f","what":"begin","nodes":[-1e999]}',
               '\x00\x01', '{"t":true,"e":"wait"}', '']
        write(self.path("series", "a", "events", "odd.jsonl"), "\n".join(odd) + "\n")
        write(self.path("series", "a", "events", "empty.jsonl"), "")
        text = self.make()
        for words in ("odd.jsonl line 1 is not JSON", "line 3 has no time", "unknown kind &#x27;news&#x27;", "empty.jsonl is empty"):
            self.says(text, words)
        self.assertEqual(packed(text)["columns"], whole["columns"])

    def test_odd_values_anywhere(self):
        """Whatever some fields become, the page is made. In this process, since a hundred pages are many."""
        run = Run(self.folder)
        run.add("a", "a", "overlaps", sections=60, workers=2, threads=2, names=["n"], overlaps=2, inversions=1, validity=1, stalls=1,
                left=["k"])
        run.close()
        folder = self.path("series", "a")
        verdict = json.loads(read(os.path.join(folder, "verdict.json")))
        run = json.loads(read(self.path("run.json")))
        dice = random.Random(7)
        events = {name: read(os.path.join(folder, "events", name)).splitlines() for name in os.listdir(os.path.join(folder, "events"))}
        for _ in range(60):
            write(self.path("run.json"), json.dumps({**spoilt(run, dice), "series": run["series"]}))
            write(os.path.join(folder, "verdict.json"), json.dumps(spoilt(verdict, dice)))
            for name, lines in events.items():
                write(os.path.join(folder, "events", name), "".join(
                    (json.dumps(spoilt(json.loads(line), dice)) if dice.random() < 0.1 else line) + "\n" for line in lines))
            notes = reading.Notes()
            known = reading.read_run(self.folder, notes)
            past = history.History(notes)
            for file, event in reading.read_events(folder, notes):
                past.add(file, event)
            judged = reading.read_verdict(folder, notes)
            described = packing.describe(run["series"][0], judged, past.finish(), known)
            one = (run["series"][0], past, judged, described, packing.pack(described), notes)
            self.assertIn("</html>", page.build(known, notes, [one], ""))
            json.dumps(described, allow_nan=False)  # the page's script takes no other


def spoilt(value, dice):
    """A copy in which some field somewhere is something else."""
    value = copy.deepcopy(value)
    at = value
    while True:
        key = dice.choice(list(at)) if isinstance(at, dict) else dice.randrange(len(at))
        if isinstance(at[key], (dict, list)) and at[key] and dice.random() < 0.8:
            at = at[key]
            continue
        at[key] = dice.choice([None, -1, 0, 2**70, 1.5, float("nan"), "", "text", True, [], {}, [[]], {"a": 1}, ["x"], "\ud800"])
        return value


class Packed(InFolder):
    """The columns hold what the events said."""

    def test_claims_come_through(self):
        run = Run(self.folder, seed=5)
        made = run.add("a", "a", "clean", sections=500)
        run.close()
        data = packed(self.make())
        claims, place, fence = {}, 0, 0
        columns = data["columns"]
        for group in data["groups"]:
            for thread in group["threads"]:
                ident, t = 0, data["began"]
                for place in range(place, place + thread["count"]):
                    ident, t = ident + columns["id"][place], t + columns["wait"][place]
                    if columns["fate"][place] == history.GRANTED:
                        got = t + columns["took"][place]
                        fence += columns["fence"][place]
                        claims[thread["name"], ident] = (columns["names"][columns["name"][place]], got, got + columns["held"][place], fence)
                place += 1
        died = {event["w"]: event["t"] for event in made.harness if event["e"] == "died"}
        self.assertEqual(len(claims), len(made.claims))
        for claim in made.claims:
            end = claim["end"]
            if claim["granted"] <= died.get(claim["w"].split(".")[0], 0) < end:
                end = died[claim["w"].split(".")[0]]
            self.assertEqual(claims[claim["w"], claim["id"]], (claim["name"], claim["granted"], end, claim["fence"]))

    def claim(self, *events, harness=()):
        past = history.History(reading.Notes())
        same = {"w": "w1.0", "id": 1}
        past.add("w1", {"t": 10, "e": "wait", "name": "n", **same})
        past.add("w1", {"t": 20, "e": "grant", "name": "n", "until": 100, **same})
        for t, kind, more in events:
            past.add("w1", {"t": t, "e": kind, **same, **more})
        for event in harness:
            past.add("harness", event)
        section, = past.finish().sections
        self.assertEqual(past.notes.all(), [])
        return section.answered, section.end, section.why

    def test_where_a_claim_ends(self):
        died = [{"t": 50, "e": "died", "w": "w1"}]
        self.assertEqual(self.claim((60, "release", {}), (70, "released", {"result": "released"})), (20, 60, history.RELEASED))
        self.assertEqual(self.claim((150, "release", {})), (20, 100, history.EXPIRED))
        self.assertEqual(self.claim((90, "extend", {"until": 200}), (150, "release", {})), (20, 150, history.RELEASED))
        self.assertEqual(self.claim((40, "lost", {}), (60, "release", {})), (20, 40, history.LOST))
        self.assertEqual(self.claim(harness=died), (20, 50, history.DIED))
        self.assertEqual(self.claim((30, "release", {}), harness=died), (20, 30, history.RELEASED))
        self.assertEqual(self.claim(), (20, 100, history.EXPIRED))

    def test_late_writes(self):
        past = history.History(reading.Notes())
        for t, kind, more in ((1, "wait", {"name": "n"}), (2, "grant", {"name": "n", "until": 50, "fence": 3}),
                              (40, "write", {"to": "plain", "ok": True}), (60, "write", {"to": "plain", "ok": True}),
                              (61, "write", {"to": "fenced", "ok": False}), (70, "release", {})):
            past.add("w1", {"t": t, "e": kind, "w": "w1.0", "id": 1, **more})
        described = packing.describe({"id": "a", "title": "a"}, None, past.finish(), {})
        self.assertEqual(described["columns"]["late"], [[0, 59, "plain", 1], [0, 60, "fenced", 0]])

    def test_long_series_keep_what_matters(self):
        run = Run(self.folder, seed=2)
        run.add("a", "a", "overlaps", sections=900, overlaps=5, inversions=3)
        run.close()
        folder, notes = self.path("series", "a"), reading.Notes()
        past = history.History(notes)
        for file, event in reading.read_events(folder, notes):
            past.add(file, event)
        verdict = reading.read_verdict(folder, notes)
        thin = packing.describe({"id": "a", "title": "a"}, verdict, past.finish(), {}, limit=100)
        self.assertGreater(thin["left_out"], 500)
        self.assertLess(len(thin["columns"]["wait"]), 200)
        self.assertEqual([len(violation["sections"]) for violation in thin["violations"]], [2] * 8)

    def test_the_same_run_gives_the_same_page(self):
        run = Run(self.folder)
        run.add("a", "a", "clean", sections=100)
        run.close()
        self.assertEqual(self.make(), self.make())


class Said(InFolder):
    """The summary in words."""

    def page_of(self, expect, **options):
        run = Run(self.folder)
        run.add("a", "a title", expect, sections=100, **options)
        run.close()
        return re.sub(r"<script.*?</script>", "", self.make(), flags=re.DOTALL)

    def test_held(self):
        text = self.page_of("clean")
        for words in ("Everything went as expected.", "No two held the same lock at the same time.", "Every later holder",
                      "Nothing was left on the nodes", "kill restart empty", "99.6 %"):
            self.says(text, words)
        self.says_not(text, "violation,")

    def test_broken(self):
        text = self.page_of("clean", overlaps=2, inversions=1, validity=1, stalls=1, left=["lock:stock-1 on node 2"])
        for words in ("1 of 1 series did not go as expected.", "2 times two held the same lock at once.", "did not hold",
                      "1 time a later holder", "1 time a key was left", "lock:stock-1 on node 2", "4 violations and 1 stall", "claimed beyond T0 + ttl"):
            self.says(text, words)
        self.says_not(text, "Everything went as expected")
        self.assertEqual(len(re.findall(r'<li><a class="jump \w+" href="#v-0-\d+">', text)), 5)

    def test_control_that_found_nothing(self):
        text = self.page_of("overlaps")
        self.says(text, "the checker proves nothing")
        self.says(text, "not caught")
        self.says(text, "1 of 1 series did not go as expected.")

    def test_control_of_any_rule(self):
        text = self.page_of("broken", inversions=2)
        self.says(text, "this series is made to have violations, and 2 violations were found")
        self.says(text, "caught, as it must be")
        self.says(text, "No two held the same lock")

    def test_shown(self):
        text = self.page_of("shown", overlaps=3)
        self.says(text, "shown: 3 overlaps")
        self.says(text, "Everything went as expected.")

    def test_silence_is_not_success(self):
        run = Run(self.folder)
        run.add("a", "a", "clean", sections=100)
        run.close()
        write(self.path("series", "a", "verdict.json"), '{"as_expected":true}')
        text = self.make()
        self.says(text, "The verdict says nothing of overlaps.")
        self.says_not(text, "No two held the same lock")

    def test_judged_for_something_else(self):
        run = Run(self.folder)
        run.add("a", "a", "overlaps", sections=100, overlaps=1)
        run.series[0]["expect"] = "clean"
        run.close()
        text = self.make()
        self.says(text, "judged as overlaps, not as clean")
        self.says(text, "1 of 1 series could not be judged.")

    def test_missing_proof(self):
        run = Run(self.folder)
        series = run.add("a", "a", "clean", sections=100)
        run.close()
        path = self.path("series", "a", "verdict.json")
        verdict = series.verdict()
        verdict.update(problems=["f1 has no proof"], as_expected=False)
        verdict["faults"][0]["ok"] = False
        write(path, json.dumps(verdict))
        text = self.make()
        self.says(text, "The run itself has 1 problem: f1 has no proof.")
        self.says(text, "the run had problems")

    def test_problems_of_the_harness(self):
        run = Run(self.folder)
        run.add("a", "a", "shown", sections=100)
        run.series[0]["problems"] = ["f2 stop on node 1: took no effect: <state R>", 7]
        run.close()
        text = self.make()
        self.says(text, "The run itself has 1 problem: f2 stop on node 1: took no effect: &lt;state R&gt;.")
        self.says(text, "1 of 1 series did not go as expected.")
        self.says(text, "problems of a[1] must be a text")


class Safe(InFolder):
    """A page that loads nothing, and in which a name is only a name."""

    EVIL = '<script>alert(1)</script>"\'&<img src=x onerror=alert(2)>'

    def test_names_are_escaped(self):
        run = Run(self.folder, labels={0: self.EVIL})
        run.add("guarded", self.EVIL, "clean", sections=60, names=[self.EVIL], overlaps=1, left=[self.EVIL])
        run.close(command=self.EVIL, versions={self.EVIL: self.EVIL}, mode=self.EVIL, wall_began=self.EVIL)
        text = self.make()
        self.says_not(text, "alert(1)</script>")
        self.says_not(text, "<img")
        self.says(text, "&lt;script&gt;alert(1)")
        self.assertIn(self.EVIL, packed(text)["columns"]["names"])

    def test_nothing_is_loaded(self):
        run = Run(self.folder)
        run.add("a", "a", "clean", sections=60)
        run.close()
        text = self.make()
        self.says(text, "default-src 'none'")
        page_itself = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        self.assertEqual(re.findall(r'(?:src|href|action|data)="(?!#|data:)[^"]*"|url\(|@import|<link(?! rel="icon" href="data:,")',
                                    page_itself), [])
        own = standalone.script_of(page.OWN, page.SCRIPTS)
        self.assertEqual(re.findall(r"https?:|fetch\(|XMLHttpRequest|import\(|WebSocket|innerHTML|\.html\(|eval\(", own), [])

    def test_script_cannot_be_ended(self):
        self.assertEqual(standalone.inline("a</script>b</SCRIPT>"), "a<\\/script>b<\\/SCRIPT>")

    def test_command_is_executable(self):
        self.assertTrue(os.access(MAKE, os.X_OK))


class Shapes(unittest.TestCase):
    def test_fit(self):
        notes = reading.Notes()
        self.assertEqual(shapes.fit({"seed": "one", "nodes": [{"id": 1, "label": None, "x": 2}, 7]}, shapes.RUN, "run.json", notes),
                         {"nodes": [{"id": 1}]})
        self.assertEqual(notes.all(), ["run.json.seed must be a whole number and was left out",
                                       "run.json.nodes[1] must be an object and was left out"])


class Faults(unittest.TestCase):
    def test_what_a_kind_does(self):
        nodes = {"nodes": [{"label": "node 1"}, {"label": "node 2"}]}
        for says, what in (("node 1: gone", "gone"), ("node 1, node 2: gone", "gone"), ("w3: gone: far", "gone: far"), ("all: gone", "gone"),
                           ("FLUSHALL: gone", "FLUSHALL: gone"), ("gone", "gone"), ("", "")):
            self.assertEqual(tables.general({"says": says, "clients": ["w3"]}, nodes), what)


class Order(unittest.TestCase):
    def test_lanes(self):
        lanes = ["w10.0", "w2.10", "w2.9", "a", "w2"]
        self.assertEqual(sorted(lanes, key=history.lane_order), ["a", "w2", "w2.9", "w2.10", "w10.0"])

    def test_rows(self):
        bands = [{"from": 0, "to": 5 * SECOND}, {"from": SECOND, "to": None}, {"from": 6 * SECOND, "to": 7 * SECOND}]
        self.assertEqual([band["row"] for band in packing.fault_rows(bands, 0, 9 * SECOND)], [0, 1, 0])


if __name__ == "__main__":
    unittest.main()
