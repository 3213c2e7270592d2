"""chaos_judge on small histories written by hand: what each rule catches and what it lets pass, and its exit codes.

The checkers themselves are tested in tests/verify; this is about how events become what they check.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

JUDGE = os.environ["CHAOS_JUDGE"]
SECOND = 1_000_000


def worker(w, t=0, **more):
    return {"t": t, "e": "worker", "w": w, "pid": 1, "client": "redlock", "guard": True, "fencing": True, "threads": 1,
            "nodes": 5, "ttl_us": 2 * SECOND, **more}


def section(w, id_, name, wait, grant, release=None, until=None, fence=None, answer="released"):
    """The events of one section; times in seconds."""
    us = lambda s: int(round(s * SECOND))
    events = [{"t": us(wait), "e": "wait", "w": w, "id": id_, "name": name, "ttl_us": 2 * SECOND}]
    events.append({"t": us(grant), "e": "grant", "w": w, "id": id_, "name": name, "token": f"{w}{id_}",
                   "until": us(until if until is not None else grant + 1.9), **({"fence": fence} if fence else {})})
    if release is not None:
        events.append({"t": us(release), "e": "release", "w": w, "id": id_})
        events.append({"t": us(release) + 500, "e": "released", "w": w, "id": id_, "result": answer})
    return events


def event(t, e, **more):
    return {"t": int(round(t * SECOND)), "e": e, **more}


def fault(id_, begin, end, proof="seen", kind="kill", **more):
    events = [event(begin, "fault", id=id_, kind=kind, nodes=[1], what="begin", **more)]
    if end is not None:
        events.append(event(end, "fault", id=id_, what="end", **({"proof": proof} if proof else {})))
    return events


KEYS = event(60, "keys", left=[])


class Judge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="chaos-judge-")
        self.addCleanup(folder.cleanup)
        self.series = folder.name
        os.mkdir(os.path.join(self.series, "events"))

    def file(self, name, *events, tail=""):
        flat = [e for part in events for e in (part if isinstance(part, list) else [part])]
        with open(os.path.join(self.series, "events", name + ".jsonl"), "w", encoding="utf-8") as out:
            out.write("".join(json.dumps(e) + "\n" for e in sorted(flat, key=lambda e: e["t"])) + tail)

    def run_judge(self, *words):
        return subprocess.run([JUDGE, *words], capture_output=True, text=True, timeout=60, check=False)

    def judge(self, expect="clean", code=None):
        result = self.run_judge(self.series, "--expect", expect, "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        with open(os.path.join(self.series, "verdict.json"), encoding="utf-8") as file:
            verdict = json.load(file)
        self.assertEqual(json.loads(result.stdout), verdict)
        self.assertEqual(verdict["as_expected"], result.returncode == 0)
        if code is not None:
            self.assertEqual(result.returncode, code, json.dumps(verdict, indent=1))
        return verdict

    def two_in_order(self):
        """w1 and w2 one after the other on x, and nothing wrong."""
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2, fence=10))
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2.1, 3, fence=11))
        self.file("harness", KEYS)


class WhatIsFound(Judge):
    def test_clean(self):
        self.two_in_order()
        verdict = self.judge(code=0)
        self.assertEqual((verdict["sections"], verdict["grants"], verdict["workers"]), (2, 2, 2))
        self.assertEqual(verdict["overlaps"] + verdict["inversions"] + verdict["validity"] + verdict["problems"], [])
        self.judge("shown", 0)
        self.judge("overlaps", 1)
        self.judge("broken", 1)

    def test_overlap_is_given_to_the_last_fault_before_it(self):
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 3))
        self.file("w2", worker("w2"), section("w2.1", 7, "x", 1.5, 2.9, 4))
        self.file("harness", KEYS, fault("f1", 0.5, 1), fault("f2", 2.5, 2.6), fault("f3", 2.95, 3))
        verdict = self.judge(code=1)
        self.assertEqual(len(verdict["overlaps"]), 1)
        found = verdict["overlaps"][0]
        self.assertEqual((found["name"], found["from"], found["to"], found["fault"]),
                         ("x", 2900000, 3000000, "f2"))
        self.assertEqual((found["first"]["w"], found["first"]["id"]), ("w1.1", 1))
        self.assertEqual((found["second"]["w"], found["second"]["id"]), ("w2.1", 7))
        self.judge("overlaps", 0)
        self.judge("broken", 0)

    def test_so_far_a_claim_without_an_end_says_nothing(self):
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, until=3))
        self.file("w2", worker("w2"), section("w2.1", 7, "x", 1.5, 2.9, 4))
        self.file("harness", KEYS)
        self.judge("overlaps", 0)
        self.assertEqual(self.run_judge(self.series, "--expect", "overlaps", "--so-far").returncode, 1)
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2.95))
        self.assertEqual(self.run_judge(self.series, "--expect", "overlaps", "--so-far").returncode, 0)

    def test_release_ends_a_claim_when_it_is_called(self):
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 3))
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 3, 4))
        self.file("harness", KEYS)
        self.judge(code=0)

    def test_extension_prolongs_and_loss_ends_a_claim(self):
        first = section("w1.1", 1, "x", 1, 1.1, until=2.5)
        second = section("w2.1", 1, "x", 1.5, 2.6, 4)
        self.file("w2", worker("w2"), second)
        self.file("harness", KEYS)
        for more, overlaps in (([], 0), ([event(2, "extend", w="w1.1", id=1, until=3 * SECOND)], 1),
                               ([event(2, "extend", w="w1.1", id=1, until=3 * SECOND),
                                 event(2.55, "lost", w="w1.1", id=1)], 0)):
            self.file("w1", worker("w1"), first, more)
            self.assertEqual(len(self.judge(code=1 if overlaps else 0)["overlaps"]), overlaps)

    def test_death_ends_the_claims_of_the_whole_process_and_of_no_other(self):
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, until=3))
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2, 2.5))
        self.file("harness", KEYS, event(1.9, "died", w="w1"))
        self.judge(code=0)
        self.file("harness", KEYS, event(3, "died", w="w2"))
        self.assertEqual(len(self.judge(code=1)["overlaps"]), 1)
        self.file("harness", KEYS, event(2.2, "died", w="w2"))
        self.assertIn("w2", self.judge(code=1)["problems"][0])  # it went on after that
        self.file("harness", KEYS, event(1.9, "died", w="w9"))
        self.assertIn("w9", self.judge(code=1)["problems"][0])
        # Its own word counts as well.
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, until=3), event(1.9, "died", w="w1"))
        self.file("harness", KEYS)
        self.judge(code=0)

    def test_stopped_process_keeps_its_claim(self):
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, until=3))
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2, 2.5))
        self.file("harness", KEYS, event(1.2, "stopped", w="w1"), event(9, "continued", w="w1"))
        self.assertEqual(len(self.judge(code=1)["overlaps"]), 1)

    def test_call_without_an_answer_claims_nothing(self):
        self.file("w1", worker("w1"), event(1, "wait", w="w1.1", id=1, name="x"))
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2, 2.5))
        self.file("harness", KEYS)
        self.judge(code=0)

    def test_inversion(self):
        self.two_in_order()
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2.1, 3, fence=9))
        verdict = self.judge(code=1)
        self.assertEqual([(i["first"]["fence"], i["second"]["fence"]) for i in verdict["inversions"]], [(10, 9)])
        self.judge("overlaps", 1)
        self.judge("broken", 0)

    def test_leftovers(self):
        self.two_in_order()
        self.file("harness", event(60, "keys", left=["lock:x on node 2"]))
        self.assertEqual(self.judge(code=1)["leftovers"], ["lock:x on node 2"])

    def test_validity(self):
        self.two_in_order()
        for until, wrong in ((1.1 + 2 - 0.022, 0), (1.1 + 2 - 0.0219, 1)):
            self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2, until=until))
            self.assertEqual(len(self.judge(code=wrong)["validity"]), wrong)
        # By an extension as well.
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2),
                  event(1.5, "extend", w="w1.1", id=1, until=int(3.49 * SECOND)))
        self.assertEqual(self.judge(code=1)["validity"][0]["w"], "w1.1")

    def test_stale_writes(self):
        def write(t, w, to, ok=True, **more):
            return event(t, "write", w=w, id=1, name="x", to=to, ok=ok, **more)
        first = section("w1.1", 1, "x", 1, 1.1, 3.5, until=2, fence=10)
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2.1, 3, fence=11), write(2.5, "w2.1", "plain"),
                  write(2.5, "w2.1", "fenced"))
        self.file("harness", KEYS)
        self.file("w1", worker("w1"), first, write(3.2, "w1.1", "plain", seen="w2.1:1"),
                  write(3.2, "w1.1", "fenced", ok=False))
        # Stale in a register that protects nothing is what the fenced one is for.
        self.assertEqual(self.judge(code=0)["stale_writes"], {"plain": 1, "fenced_refused": 1, "fenced_accepted": 0})
        self.file("w1", worker("w1"), first, write(3.2, "w1.1", "fenced", seen="w2.1:1"))
        self.assertEqual(self.judge(code=1)["stale_writes"]["fenced_accepted"], 1)
        # Into the middle of a newer section, which read nothing and then replaces it; or had read it already.
        for read, stale in (("", 1), ("w1.1:1", 0)):
            self.file("w1", worker("w1"), first, write(2.2, "w1.1", "plain", seen="", read=""))
            self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 2.1, 3, fence=11),
                      write(2.5, "w2.1", "plain", seen="w1.1:1", read=read))
            self.assertEqual(self.judge(code=0)["stale_writes"]["plain"], stale)


class Progress(Judge):
    def test_stall(self):
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2))
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 5, 6))
        self.file("harness", KEYS)
        verdict = self.judge(code=0)
        self.assertEqual(verdict["stalls"], [{"name": "x", "from": 2000500, "to": 5000000}])
        self.assertEqual(verdict["longest_stall_us"], 2999500)

    def test_what_explains_a_wait(self):
        self.file("w2", worker("w2"), section("w2.1", 1, "x", 1.5, 5.3, 6))
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2))
        self.file("harness", KEYS, event(1.9, "quorum", ready=2), event(4.9, "quorum", ready=3))
        self.assertEqual(self.judge(code=0)["longest_stall_us"], 400000)
        # The waiter itself was stopped.
        self.file("harness", KEYS, event(1.9, "stopped", w="w2"), event(4.9, "continued", w="w2"))
        self.assertEqual(self.judge(code=0)["longest_stall_us"], 400000)
        # Another waiter was, in the middle of an attempt that may have set keys.
        self.file("w3", worker("w3"), event(1.6, "wait", w="w3.1", id=1, name="x"))
        self.file("harness", KEYS, event(2.5, "stopped", w="w3"))
        self.assertEqual(self.judge(code=0)["longest_stall_us"], 5300000 - 4522000)
        os.remove(os.path.join(self.series, "events", "w3.jsonl"))
        # The holder died; its keys live until they expire.
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, until=3))
        self.file("harness", KEYS, event(1.5, "died", w="w1"))
        self.assertEqual(self.judge(code=0)["longest_stall_us"], 5300000 - 3000000 - 22000)


class Figures(Judge):
    def own(self, id_, wait, took):
        return section("w1.1", id_, "own", wait, wait + took, wait + took + 0.001)

    def test_phases(self):
        sections = [self.own(i, 1 + i / 10, 0.01) for i in range(40)]  # asked at 1.0, 1.1 .. 4.9
        sections = [s for s in sections if not 3 <= s[0]["t"] / SECOND < 4]  # nothing from 3 to 4
        self.file("w1", worker("w1"), *sections)
        self.file("harness", KEYS, event(2.9, "scenario", scenario="kill", what="begin"), fault("f1", 2.95, 3.5),
                  event(3, "quorum", ready=2), event(3.8, "quorum", ready=5),
                  event(4.9, "scenario", scenario="kill", what="end"))
        phase = self.judge(code=0)["phases"][0]
        self.assertEqual((phase["scenario"], phase["fault"]), ("kill", "f1"))
        self.assertEqual(phase["before"]["per_s"], 10)
        self.assertEqual(phase["before"]["wait_p50_us"], 10000)
        self.assertEqual((phase["during"]["per_s"], phase["during"]["wait_p99_us"]), (0, None))
        self.assertEqual(phase["first_grant_after_heal_us"], 210000)  # 4.0 + 10 ms, after 3.8

    def test_availability(self):
        sections = [self.own(i, 1 + i / 100, 0.001) for i in range(50)]
        # With two nodes out: three soon, one late, and one that failed.
        for i, took in enumerate((0.001, 0.002, 0.003, 0.0031)):
            sections.append(self.own(100 + i, 3 + i / 10, took))
        sections.append([event(3.5, "wait", w="w1.1", id=200, name="own"),
                         event(3.6, "fail", w="w1.1", id=200, name="own", error="no_quorum")])
        # Somebody holds that one: it is not free.
        sections += [section("w1.2", 300, "x", 3, 3.1, 3.9), section("w1.3", 301, "x", 3.2, 3.95, 3.97)]
        # Both ask for that one at a time.
        sections += [section("w1.2", 310, "y", 3, 3.001, 3.01), section("w1.3", 311, "y", 3.0005, 3.02, 3.03)]
        self.file("w1", worker("w1"), *sections)
        self.file("harness", KEYS, fault("f1", 2.9, 4.5), event(2.95, "quorum", ready=3), event(4.4, "quorum", ready=5))
        verdict = self.judge(code=0)
        self.assertEqual(verdict["healthy_median_us"], 1000)
        self.assertEqual(verdict["availability"],
                         [{"fault": "f1", "nodes_down": 2, "tried": 6, "granted_within_3x_median": 3}])
        self.assertEqual(verdict["fails"], {"no_quorum": 1})


class Problems(Judge):
    def test_faults_without_proof_or_end(self):
        self.two_in_order()
        self.file("harness", KEYS, fault("f1", 1, 2, proof=None), fault("f2", 1, None, proof="x"), fault("f3", 1, 2))
        verdict = self.judge(code=1)
        self.assertEqual([f["ok"] for f in verdict["faults"]], [False, False, True])
        self.assertEqual(len(verdict["problems"]), 3)  # f2 has neither
        for expect in ("overlaps", "broken", "shown"):
            self.judge(expect, 1)

    def test_nothing_happened(self):
        self.file("w1", worker("w1"))
        self.file("harness", KEYS)
        for expect in ("clean", "shown"):
            self.assertIn("granted", self.judge(expect, 1)["problems"][0])

    def test_nobody_looked_for_keys(self):
        self.two_in_order()
        self.file("harness", fault("f1", 1, 2))
        self.assertIn("keys", self.judge("clean", 1)["problems"][0])
        self.judge("shown", 0)

    def test_torn_last_line_is_no_fault(self):
        self.two_in_order()
        self.file("w1", worker("w1"), section("w1.1", 1, "x", 1, 1.1, 2), tail='{"t":2500000,"e":"wai')
        self.assertEqual(self.judge(code=0)["sections"], 2)

    def test_what_cannot_be_read_is_65_and_says_where(self):
        self.two_in_order()
        for line, word in (("nonsense", "JSON"), ("[1]", "JSON"), ("{}", "`t`"), ('{"t":1,"e":"worker","w":"w3"}', "ttl_us"),
                           ('{"t":1,"e":"wait","w":"w3.1","id":1,"name":"x"}', "worker"),
                           ('{"t":1,"e":"fault","id":"f","what":"middle"}', "begin or end")):
            self.file("w3", tail=line + "\n")
            result = self.run_judge(self.series, "--expect", "clean")
            self.assertEqual(result.returncode, 65, line)
            self.assertEqual(len(result.stderr.splitlines()), 1)
            self.assertIn("w3.jsonl:1: ", result.stderr)
            self.assertIn(word, result.stderr)
        self.file("w3", worker("w1"))
        self.assertIn("w1 is in another file", self.run_judge(self.series, "--expect", "clean").stderr)

    def test_no_events_is_65(self):
        self.assertEqual(self.run_judge(self.series, "--expect", "clean").returncode, 65)
        result = self.run_judge(self.series + "/none", "--expect", "clean")
        self.assertEqual(result.returncode, 65)
        self.assertIn(self.series + "/none", result.stderr)

    def test_usage_is_64(self):
        for words in ([], ["--expect", "clean"], [self.series], [self.series, "--expect"], [self.series, "--expect", "x"],
                      [self.series, "--expect", "clean", "more"], [self.series, "--expect", "clean", "--nonsense"]):
            result = self.run_judge(*words)
            self.assertEqual(result.returncode, 64, words)
            self.assertIn("usage: chaos_judge", result.stderr)


class Size(Judge):
    def test_a_hundred_thousand_sections(self):
        """A history as long as those that are judged; how long it takes is for people to see, a hang is for the limit."""
        for w in ("w1", "w2"):
            with open(os.path.join(self.series, "events", w + ".jsonl"), "w", encoding="utf-8") as out:
                out.write(json.dumps(worker(w)) + "\n")
                shift = 0 if w == "w1" else 0.001
                for i in range(50_000):
                    at = 1 + i * 0.002 + shift
                    for line in section(w + ".1", i + 1, "x", at, at + 0.0001, at + 0.0004):
                        out.write(json.dumps(line) + "\n")
        self.file("harness", KEYS, fault("f1", 5, 6))
        verdict = self.judge(code=0)
        self.assertEqual(verdict["grants"], 100_000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
