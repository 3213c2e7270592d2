#!/usr/bin/env python3
"""What the runner starts: that it is talked to in whole lines, and that it ends, whatever became of the runner."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, BENCH)
# pylint: disable=wrong-import-position
from harness import contention, handover, main, nodes, processes  # noqa: E402

LIMIT_S = 60


def ended(pid):
    """True as soon as it has, or is only left to be waited for; False when that took too long."""
    for _ in range(LIMIT_S * 50):
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


class Talking(unittest.TestCase):
    def tearDown(self):
        processes.end_all()

    def test_lines_come_whole_and_in_order(self):
        talker = processes.Talker(["sh", "-c", "read a; printf 'one\\ntw'; sleep 0.2; printf 'o\\n%s\\n' \"$a\"; read b"])
        self.assertEqual([talker.ask("three"), talker.line(), talker.line()], ["one", "two", "three"])
        self.assertFalse(talker.has_line())

    def test_who_ends_or_hangs_is_named(self):
        with self.assertRaisesRegex(processes.Failed, "ended on its own, with 3"):
            processes.Talker(["sh", "-c", "exit 3"]).line()
        with self.assertRaisesRegex(processes.Failed, "did not answer"):
            processes.Talker(["sleep", "60"]).line(timeout=0.1)


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(processes.end_all)
        self.pids = Path(folder.name) / "pids"

    def shell(self):
        """A command whose own child does the work."""
        return ["sh", "-c", f"sleep 600 & echo $! > {self.pids}.part; mv {self.pids}.part {self.pids}; wait"]

    def child(self):
        for _ in range(LIMIT_S * 50):
            if self.pids.exists():
                return int(self.pids.read_text(encoding="ascii"))
            time.sleep(0.02)
        self.fail("it does not start")

    def test_a_command_that_takes_too_long_ends_with_all_it_started(self):
        def wait(_, timeout):
            self.child()  # it works by now
            raise subprocess.TimeoutExpired("sh", timeout)
        with mock.patch.object(subprocess.Popen, "communicate", wait), \
                self.assertRaisesRegex(processes.Failed, "did not end within 7 s"):
            processes.output(self.shell(), timeout=7)
        self.assertTrue(ended(self.child()))

    def test_a_command_ends_with_a_runner_that_is_killed(self):
        command = f"echo $$ > {self.pids}.part; mv {self.pids}.part {self.pids}; exec sleep 600"
        runner = subprocess.Popen([sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, {BENCH!r}); "
                                   f"from harness import processes; processes.output(['sh', '-c', {command!r}])"])
        pid = self.child()
        runner.kill()
        runner.wait()
        self.assertTrue(ended(pid))

    def test_what_a_command_says(self):
        self.assertEqual(processes.output(["echo", "one"]), "one\n")
        with self.assertRaisesRegex(processes.Failed, "failed: why$"):
            processes.output(["sh", "-c", "echo no >&2; echo why >&2; exit 3"])
        with self.assertRaisesRegex(processes.Failed, "/nowhere/program"):
            processes.output(["/nowhere/program"])

    def keep_signals(self):
        before = [signal.getsignal(one) for one in main.STOPS]
        self.addCleanup(lambda: [signal.signal(one, was) for one, was in zip(main.STOPS, before)])

    def test_an_impatient_second_changes_nothing(self):
        self.keep_signals()

        def measure(_):
            signal.pthread_sigmask(signal.SIG_BLOCK, main.STOPS)
            for one in main.STOPS:
                os.kill(os.getpid(), one)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, main.STOPS)  # all at once
        with mock.patch.object(main, "measure", measure), contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main.main(["core"]), 130)
        self.assertEqual(said.getvalue(), "bench/run: stopped\n")

    def test_cleaning_up_is_not_interrupted(self):
        self.keep_signals()
        folder = processes.folder()

        def measure(_):
            raise processes.Failed("broke")

        real = processes.end_all

        def slow():
            os.kill(os.getpid(), signal.SIGINT)
            real()
        with mock.patch.object(main, "measure", measure), mock.patch.object(main, "end_all", slow), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main.main(["core"]), 69)
        self.assertEqual((said.getvalue(), folder.exists()), ("bench/run: broke\n", False))


class Servers(unittest.TestCase):
    @unittest.skipUnless(shutil.which("redis-server"), "takes redis-server")
    def test_ours_are_told_from_who_took_the_port(self):
        self.addCleanup(processes.end_all)
        some = nodes.Nodes(2)
        some.kill(1)
        some.start_again(1)
        self.assertEqual(some.requests(), 0)
        with mock.patch.object(nodes, "free_port", return_value=some.ports[0]), \
                self.assertRaisesRegex(processes.Failed, f"does not start on port {some.ports[0]}"):
            nodes.Nodes(1)


class Peers(unittest.TestCase):
    """Clients that do not do what they have to."""

    def test_a_stuck_one_is_ended(self):
        driver = mock.Mock(line=mock.Mock(side_effect=processes.Failed("did not answer")))
        peer = mock.Mock(start=mock.Mock(return_value=driver))
        with self.assertRaisesRegex(processes.Failed, "did not answer"):
            contention.one_peer(mock.Mock(scale=1), peer, mock.Mock(ports=[1]), (3, 1), 1)
        self.assertEqual(driver.end.call_count, 3)

    def test_a_free_lock_that_is_not_granted(self):
        driver = mock.Mock(ask=mock.Mock(return_value="A 0 1 2"))
        driver.name = "some"
        with self.assertRaisesRegex(processes.Failed, "some: a lock that nobody holds"):
            handover.hand_over([driver], [], {}, None)


if __name__ == "__main__":
    unittest.main()
