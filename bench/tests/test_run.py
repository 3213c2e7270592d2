#!/usr/bin/env python3
"""bench/run as its users run it, with tiny counts: every set comes to its end, the page is made, and nothing stays behind,
also after Ctrl-C. How fast anything is, is no concern of this test."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run")
BUILD = os.environ["BENCH_BUILD"]
MARK = "REDLOCK_BENCH_TEST"


def running(mark, tmp):
    """Our processes: they have the mark in their environment, or work in our folder (a Redis server writes its title over
    its environment)."""
    found = []
    for process in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{process}/environ", "rb") as file:
                if f"{MARK}={mark}".encode() in file.read() or os.readlink(f"{process}/cwd").startswith(tmp):
                    found.append(process)
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return found


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-bench-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out, self.tmp, self.mark = os.path.join(self.folder, "out"), os.path.join(self.folder, "tmp"), uuid.uuid4().hex
        os.mkdir(self.tmp)

    def start(self, *words):
        return subprocess.Popen([sys.executable, "-B", RUN, *words, "--build", BUILD, "--out", self.out, "--no-npm", "--brief"],
                                env={**os.environ, "TMPDIR": self.tmp, MARK: self.mark}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def tearDown(self):
        self.assertEqual(running(self.mark, self.tmp), [])
        self.assertEqual(os.listdir(self.tmp), [])

    def test_every_set(self):
        run = self.start("all", "--json")
        out, err = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, err)
        self.assertNotIn("\r", err)  # no terminal
        with open(os.path.join(self.out, "results.json"), encoding="utf-8") as file:
            results = json.load(file)
        self.assertEqual(json.loads(out), results)
        self.assertTrue(os.path.exists(os.path.join(self.out, "report.html")))
        sets = results["sets"]
        groups = sets["latency"]["groups"] + sets["throughput"]["points"]
        for member in (member for group in groups for member in group["members"]):
            self.assertGreater(member["acquire_us"]["n"], 0, member)
            self.assertEqual(member["failed"], 0, member)
        for group in sets["latency"]["groups"]:  # what goes there and back is late twice
            for member in group["members"]:
                self.assertGreaterEqual(member["acquire_us"]["p50"], 2e3 * group["delay_ms"], member)
        self.assertEqual({group["delay_ms"] for group in sets["latency"]["groups"]}, {0, 2})
        for member in (member for point in sets["handover"]["points"] for member in point["members"]):
            self.assertEqual(sum(member["held"]), member["handover_us"]["n"], member)
        for member in (member for case in sets["contention"]["cases"] for member in case["members"]):
            self.assertNotIn("stuck", member)
            self.assertEqual((member["overlaps"], min(member["shares"]) > 0), (0, True), member)
            self.assertGreaterEqual(member["requests"], 10, member)  # five to take it, five to give it back
        held = sets["holding"]["cases"][0]
        self.assertEqual((held["leases"], held["lost"]), (100, 0))
        self.assertGreater(held["extensions"], 100)
        waiting = sets["waiting"]["cases"][0]
        self.assertEqual(waiting["waiters"], 20, waiting)  # all of them still
        self.assertGreater(waiting["requests_per_s"], 0, waiting)
        self.assertTrue(all(one["ns"] > 0 for one in sets["core"]["benchmarks"]))
        self.assertEqual([row["name"] for row in sets["promises"]["rows"]], ["delay", "tput", "guard", "guard_delay", "fault"])

    def test_ctrl_c(self):
        run = self.start("contention")
        until = time.monotonic() + 60
        while len(running(self.mark, self.tmp)) < 7 and time.monotonic() < until:  # itself, five nodes, a client
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGTERM)  # by somebody who cannot wait
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertEqual(err.splitlines()[-1], "bench/run: stopped")
        self.assertNotIn("Traceback", err)


if __name__ == "__main__":
    unittest.main()
