"""chaos_worker against real servers: its history is judged clean where it should be, and the judge finds what was broken on
purpose: a core whose quorum is one too small, one without drift, and holders that were stopped and write all the same.

Nothing here depends on how fast anything is: what is waited for are events, with a limit that only a failure reaches.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from support import LIMIT, Cluster, Node, environment, eventually, free_port  # noqa: E402  pylint: disable=C0413

WORKER = os.environ["CHAOS_WORKER"]
JUDGE = os.environ["CHAOS_JUDGE"]
MUTANTS = os.environ.get("CHAOS_MUTANTS") == "yes"


# A client that loses every lease at once.
LOSER = """
import sys, time
print("ready loser 1", flush=True)
for line in sys.stdin:
    words, now = line.split(), time.monotonic_ns() // 1000
    if words[0] == "acquire":
        print(f"granted {words[1]} {now} {now + 900000} t{words[1]} -\\nlost {words[1]} {now}", flush=True)
    elif words[0] == "release":
        print(f"released {words[1]} {now} already_gone", flush=True)
    else:
        break
"""


class Worker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.init()
        cls.registers = Node(cls.cluster.folder)

    @classmethod
    def tearDownClass(cls):
        cls.registers.kill()
        cls.cluster.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="chaos-worker-")
        self.addCleanup(folder.cleanup)
        self.series = folder.name
        os.mkdir(os.path.join(self.series, "events"))
        self.registers.command("FLUSHALL")
        self.harness = []

    def path(self, w):
        return os.path.join(self.series, "events", w + ".jsonl")

    def start(self, w, *words, program=WORKER, nodes=None, ttl="1s"):
        """A worker that runs until it is told to finish, or until the test ends."""
        process = subprocess.Popen(
            [program, "--id", w, "--nodes", nodes or self.cluster.urls(), "--events", self.path(w), "--ttl", ttl, "--max-ttl",
             "30s", "--min-node-timeout", "1s", "--names", "x,y", "--hold-max", "10ms", "--register-port",
             str(self.registers.port), *words],
            env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def finish(self, *processes):
        for process in processes:
            process.stdin.write("finish\n")
            process.stdin.flush()
        for process in processes:
            _, errors = process.communicate(timeout=LIMIT)
            self.assertEqual((process.returncode, errors), (0, ""))

    def events(self, w, kind=None):
        try:
            with open(self.path(w), encoding="utf-8") as file:
                whole = [line for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []
        events = [json.loads(line) for line in whole]
        return [event for event in events if kind in (None, event["e"])]

    def wait_for(self, w, kind, count=1):
        return eventually(lambda: (found := self.events(w, kind)) if len(self.events(w, kind)) >= count else None,
                          f"{w} says {kind} {count} times")

    def note(self, e, **more):
        self.harness.append({"t": time.monotonic_ns() // 1000, "e": e, **more})

    def judge(self, expect, code=0):
        left = eventually(self.keys_are_gone, "no key is left") and []
        self.note("keys", left=left)
        with open(self.path("harness"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(event) + "\n" for event in self.harness)
        result = subprocess.run([JUDGE, self.series, "--expect", expect, "--json"], capture_output=True, text=True,
                                timeout=LIMIT, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def keys_are_gone(self):
        return all(node.command("EXISTS", "lock:x", "lock:y") == 0 for node in self.cluster.nodes)

    def run_to_its_end(self, *words):
        """One that ends by itself: its standard input stays open."""
        ours, theirs = os.pipe()
        try:
            return subprocess.run([WORKER, *words], stdin=ours, env=environment(), capture_output=True, text=True,
                                  timeout=LIMIT, check=False)
        finally:
            os.close(ours)
            os.close(theirs)


class Sound(Worker):
    def test_two_processes(self):
        """One with each face of the library."""
        workers = [self.start(w, "--threads", "4", "--long-percent", "5", "--seed", "7", "--api", api)
                   for w, api in (("w1", "blocking"), ("w2", "async"))]
        for w in ("w1", "w2"):
            self.wait_for(w, "released", 60)
            self.wait_for(w, "extend")
        self.finish(*workers)
        verdict = self.judge("clean")
        self.assertGreaterEqual(verdict["grants"], 120)
        self.assertEqual(verdict["stale_writes"]["fenced_accepted"], 0)
        for w in ("w1", "w2"):
            events = self.events(w)
            self.assertEqual(events[0]["client"], {"w1": "redlock", "w2": "redlock-async"}[w])
            self.assertEqual((events[0]["e"], events[0]["guard"], events[0]["nodes"], events[0]["ttl_us"]),
                             ("worker", True, 5, 1_000_000))
            self.assertEqual([e["t"] for e in events], sorted(e["t"] for e in events))
            count = lambda kind: sum(1 for e in events if e["e"] == kind)
            self.assertEqual(count("wait"), count("grant") + count("fail"))
            self.assertEqual(count("grant"), count("release"))
            self.assertEqual(count("release"), count("released"))
            self.assertTrue(all(e["fence"] > 0 and len(e["token"]) == 16 for e in events if e["e"] == "grant"))
            self.assertTrue({e["to"] for e in events if e["e"] == "write"} == {"plain", "fenced"})
            self.assertTrue(any("seen" in e for e in events if e["e"] == "write"))

    def test_killed_in_the_middle(self):
        victim = self.start("w1", "--threads", "4", "--api", "async")
        other = self.start("w2", "--threads", "2")
        self.wait_for("w1", "grant", 20)
        victim.kill()
        victim.wait()
        self.note("died", w="w1")
        before = len(self.events("w2", "grant"))
        self.wait_for("w2", "grant", before + 20)
        self.finish(other)
        self.judge("clean")

    def test_crash_that_was_asked_for(self):
        worker = self.start("w1", "--threads", "2", "--crash-percent", "100", "--own-percent", "0")
        self.assertEqual(worker.wait(LIMIT), 42)
        self.assertEqual(self.events("w1")[-1]["e"], "died")
        self.judge("clean")

    def test_stopped_holder_that_writes_all_the_same(self):
        sleepy = ["--threads", "1", "--names", "x", "--own-percent", "0", "--careless-percent", "100"]
        stopped = self.start("w1", *sleepy, "--long-percent", "100")
        other = self.start("w2", *sleepy, "--long-percent", "0")
        refused = False
        for _ in range(20):  # it may be stopped a moment too late, on a slow machine
            self.wait_for("w1", "grant", len(self.events("w1", "grant")) + 1)
            stopped.send_signal(signal.SIGSTOP)
            self.note("stopped", w="w1")
            self.wait_for("w2", "write", len(self.events("w2", "write")) + 4)
            stopped.send_signal(signal.SIGCONT)
            self.note("continued", w="w1")
            self.wait_for("w1", "released", len(self.events("w1", "released")) + 1)
            refused = any(not write["ok"] for write in self.events("w1", "write"))
            if refused:
                break
        self.finish(other, stopped)
        self.assertTrue(refused)
        writes = self.judge("clean")["stale_writes"]
        self.assertGreater(writes["plain"], 0)
        self.assertGreater(writes["fenced_refused"], 0)
        self.assertEqual(writes["fenced_accepted"], 0)

    def test_without_fencing_and_guard(self):
        worker = self.start("w1", "--no-fencing", "--no-guard")
        self.wait_for("w1", "released", 10)
        self.finish(worker)
        first = self.events("w1")[0]
        self.assertEqual((first["guard"], first["fencing"]), (False, False))
        self.assertFalse(any("fence" in e for e in self.events("w1", "grant")))
        self.judge("clean")


@unittest.skipUnless(MUTANTS, "no broken cores in this build")
class Broken(Worker):
    def test_quorum_too_small(self):
        """Two workers of which each reaches other nodes: two, and three."""
        dead = [f"redis://127.0.0.1:{free_port()}" for _ in range(5)]
        urls = self.cluster.urls().split(",")
        views = {"w1": urls[:2] + dead[2:], "w2": dead[:2] + urls[2:]}
        for mutant, found in (("", False), ("_q_minus_1", True)):
            for w in views:
                if os.path.exists(self.path(w)):
                    os.remove(self.path(w))
            workers = [self.start(w, "--no-guard", "--own-percent", "0", "--long-percent", "100", nodes=",".join(view),
                                  program=WORKER + mutant) for w, view in views.items()]
            self.wait_for("w2", "released", 4)
            if found:
                self.wait_for("w1", "released", 4)
            self.finish(*workers)
            verdict = self.judge("overlaps", 0 if found else 1)
            self.assertEqual(bool(verdict["overlaps"]), found)
            self.assertEqual(any(e["w"].startswith("w1") for o in verdict["overlaps"] for e in (o["first"], o["second"])), found)

    def test_no_drift(self):
        worker = self.start("w1", program=WORKER + "_no_drift")
        self.wait_for("w1", "released", 10)
        self.finish(worker)
        verdict = self.judge("broken")
        # All but those whose answers took longer than the drift is.
        self.assertGreater(len(verdict["validity"]), 0)


class Lines(Worker):
    def line(self):
        return f"{WORKER} --line --ttl 1s --max-ttl 30s --min-node-timeout 1s --nodes {self.cluster.urls()}"

    def test_the_library_as_an_adapter(self):
        worker = self.start("w1", "--adapter", self.line(), "--threads", "4", "--long-percent", "5")
        self.wait_for("w1", "released", 60)
        self.wait_for("w1", "extend")
        self.finish(worker)
        first = self.events("w1")[0]
        self.assertTrue(first["client"].startswith("redlock "), first)
        self.assertTrue(first["fencing"])
        self.judge("clean")

    def test_the_words(self):
        speaker = subprocess.Popen(self.line().split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=environment())
        self.addCleanup(self.end, speaker)

        def ask(line, answer):
            speaker.stdin.write(line + "\n")
            speaker.stdin.flush()
            return self.answer(speaker, answer)
        ready = speaker.stdout.readline().split()
        self.assertEqual((ready[:2], ready[3:]), (["ready", "redlock"], ["watchdog", "extend", "fencing"]))
        granted = ask("acquire 1 x 20000 5000", "granted 1")
        self.assertEqual(len(granted), 6)
        self.assertLessEqual(int(granted[3]) - int(granted[2]), 20_000_000)
        self.assertGreater(int(granted[5]), 0)
        self.assertEqual(ask("acquire 2 x 1000 0", "failed 2")[3], "contended")
        self.assertGreater(int(ask("extend 1 20000", "extended 1")[3]), int(granted[3]))
        self.assertEqual(ask("release 1", "released 1")[3], "released")
        self.assertEqual(ask("release 9", "released 9")[3], "unknown")
        self.assertEqual(ask("extend 9 1000", "unextended 9")[3], "unknown_id")
        self.assertEqual(ask("acquire 3 x 6000 0", "granted 3")[1], "3")
        for node in self.cluster.nodes:
            node.command("DEL", "lock:x")
            node.command("SET", "lock:x", "f" * 32, "PX", "60000")
        self.answer(speaker, "lost 3")
        for node in self.cluster.nodes:
            node.command("DEL", "lock:x")
        ask("acquire 4 y 6000 0", "granted 4")
        speaker.stdin.write("quit\n")
        speaker.stdin.flush()
        self.assertEqual(speaker.wait(LIMIT), 0)
        eventually(self.keys_are_gone, "what was held is given back")

    @staticmethod
    def answer(speaker, begin):
        for line in iter(speaker.stdout.readline, ""):
            if line.startswith(begin + " "):
                return line.split()
        raise AssertionError("no answer: " + begin)

    def test_adapters_that_do_not_do(self):
        for command, code, words in (("true", 69, "ended before its first line"), ("echo hello", 69, 'began with "hello"'),
                                     ("/nonexistent/adapter", 69, "ended before its first line"),
                                     ("sh -c 'echo ready it 1; read line'", 70, "the adapter ended")):
            result = self.run_to_its_end("--id", "w1", "--nodes", self.cluster.urls(), "--names", "x", "--ttl", "1s", "--events",
                                         self.path("w" + str(len(command))), "--adapter", command)
            self.assertEqual(result.returncode, code, command + result.stderr)
            self.assertIn(words, result.stderr)

    def test_what_an_adapter_loses_is_lost(self):
        script = os.path.join(self.series, "loser.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(LOSER)
        worker = self.start("w1", "--adapter", f"{sys.executable} {script}", "--careless-percent", "0")
        self.wait_for("w1", "released", 50)
        self.finish(worker)
        first = self.events("w1")[0]
        self.assertEqual((first["client"], first["fencing"]), ("loser 1", False))
        lost = {e["id"] for e in self.events("w1", "lost")}
        self.assertTrue(lost)  # some were released before the word came
        self.assertLessEqual(lost, {e["id"] for e in self.events("w1", "grant")})
        self.assertEqual({e["result"] for e in self.events("w1", "released")} - {"unknown"}, {"already_gone"})

    def test_npm_where_there_is_none(self):
        script = os.path.join(ROOT, "chaos", "adapters", "npm-redlock", "run")
        result = subprocess.run(["/bin/bash", script, self.series], env={"PATH": "/nonexistent"}, capture_output=True, text=True,
                                timeout=LIMIT, check=False)
        self.assertEqual(result.returncode, 69)
        self.assertEqual(result.stderr, "npm-redlock: there is no node; on Debian: apt-get install nodejs npm\n")


class Refused(Worker):
    def test_usage(self):
        good = ["--id", "w1", "--nodes", "redis://127.0.0.1:1", "--names", "x", "--events", self.path("w1")]
        for words, what in ((good[:2] + good[4:], "--nodes"), (good[2:], "--id"), (good[:4] + good[6:], "--names"),
                            (good[:6], "--events"), (good + ["--ttl", "soon"], "soon"), (good + ["--ttl", "1ms"], "ttl"),
                            (good + ["--threads", "0"], "--threads"), (good + ["--careless-percent", "101"], "101"),
                            (good + ["--register", "unix:///x"], "redis://HOST:PORT"), (good + ["--names", "a b"], "blanks"),
                            (good[:3] + ["nonsense://x"] + good[4:], "node 1"), (good + ["--what"], "--what")):
            result = self.run_to_its_end(*words)
            self.assertEqual(result.returncode, 64, words)
            self.assertIn(what, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertFalse(os.path.exists(self.path("w1")))

    def test_events_file_that_is_there(self):
        with open(self.path("w1"), "w", encoding="utf-8") as file:
            file.write("mine")
        result = self.run_to_its_end("--id", "w1", "--nodes", self.cluster.urls(), "--names", "x", "--events", self.path("w1"))
        self.assertEqual(result.returncode, 73)
        self.assertIn("w1.jsonl: File exists", result.stderr)
        with open(self.path("w1"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_register_that_is_not_there(self):
        result = self.run_to_its_end("--id", "w1", "--nodes", self.cluster.urls(), "--names", "x", "--events", self.path("w1"),
                                     "--register-port", str(free_port()))
        self.assertEqual(result.returncode, 69)
        self.assertIn("does not answer", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
