"""init, status and doctor from outside: exit codes, tables, --json, what is asked on a terminal, and the watch."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from support import LIMIT, PATIENT, PROGRAM, ProgramTest, eventually, free_port, main


class Typed:
    """The program on a terminal of its own, without a shell."""

    def __init__(self, words, env, rows=24, columns=100):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(PROGRAM, [PROGRAM, *words], env)
        self.seen = ""
        self.taken = 0
        self.code = None

    def read(self):
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern):
        end = time.monotonic() + LIMIT
        while True:
            match = re.search(pattern, self.seen[self.taken:])
            if match:
                self.taken += match.end()
                return match
            if not self.read() or time.monotonic() > end:
                raise AssertionError(f"not seen: {pattern!r} in {self.seen[self.taken:]!r} after {self.seen!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self):
        while self.read():
            pass
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class Guard(ProgramTest):
    count = 3

    def setUp(self):
        super().setUp()
        for node in self.cluster.nodes:
            node.command("FLUSHALL")

    def typed(self, *words, **size):
        program = Typed(words, self.env(), **size)
        self.addCleanup(program.close)
        return program

    def marks(self):
        return [node.command("GET", "redlock:guard") for node in self.cluster.nodes]

    def settling(self):
        return sum(node.command("EXISTS", "redlock:settling") for node in self.cluster.nodes)

    def settle(self):
        self.expect(self.redlock(*PATIENT, "acquire", "--try", self.name), 69, "nodes that lost their memory do not vote yet")
        eventually(lambda: self.settling() == self.count, "all settle")


class Init(Guard):
    def test_marks_new_nodes_once(self):
        result = self.expect(self.redlock("init"), 0)
        self.assertEqual(len(re.findall(r"unmarked +ready", result.stdout)), 3, result.stdout)
        self.assertEqual(result.stderr, "")
        self.take(self.name)
        before = self.marks()
        result = self.expect(self.redlock("init"), 65, "nothing was written")
        self.assertIn("ready already", result.stdout)
        self.assertEqual(self.marks(), before)

    def test_an_error_of_settling_says_how_long(self):
        result = self.redlock(*PATIENT, "acquire", "--try", self.name)
        self.expect(result, 69, "do not vote yet for another ")
        self.assertRegex(result.stderr, r"for another (30|2\d)\d\d\dms")

    def test_json(self):
        seen = json.loads(self.expect(self.redlock("--json", "init"), 0).stdout)
        self.assertEqual((seen["done"], seen["written"], seen["notes"]), (True, True, []))
        self.assertEqual([(n["found"], n["outcome"], n["error"]) for n in seen["nodes"]],
                         [("unmarked", "marked", None)] * 3)
        result = self.expect(self.redlock("--json", "init"), 65, "nothing was written")
        seen = json.loads(result.stdout)
        self.assertEqual({n["outcome"] for n in seen["nodes"]}, {"refused"})

    def test_refuses_when_a_node_is_missing(self):
        nodes = f"{self.cluster.urls()},redis://127.0.0.1:{free_port()},redis://127.0.0.1:{free_port()}"
        result = self.expect(self.redlock("--nodes", nodes, "init"), 69, "nothing was written")
        self.assertEqual(len(re.findall(r"unreachable +refused", result.stdout)), 2, result.stdout)
        self.assertEqual(self.marks(), [None] * 3)

    def test_force_needs_a_word(self):
        self.settle()
        self.expect(self.redlock("init", "--force"), 64, "write --yes")
        for answer, code, left in (("n", 65, 3), ("", 65, 3), ("y", 0, 0)):
            program = self.typed("init", "--force")
            program.expect(r"for the last 30s \(max_ttl\) nobody was given a lock on any of the nodes")
            program.expect(r"\[y/N\] ")
            program.type(answer + "\n")
            self.assertEqual(program.wait(), code, program.seen)
            self.assertEqual(self.settling(), left)
        self.take(self.name)

    def test_force_node_by_label_or_url(self):
        self.settle()
        first, second = self.cluster.nodes[0], self.cluster.nodes[1]
        self.expect(self.redlock("init", "--yes", "--force-node", first.url(), "--force-node",
                                 f"127.0.0.1:{second.port}"), 0)
        self.assertEqual(self.settling(), 1)
        self.take(self.name)  # two of three vote
        self.expect(self.redlock("init", "-y", "--force-node", "redis://:pa55@10.1.1.1"), 64, "none of the nodes")

    def test_reconfigure(self):
        self.expect(self.redlock("init"), 0)
        result = self.expect(self.redlock("--deployment", "b", "init", "--reconfigure"), 0)
        self.assertEqual(len(re.findall(r"mismatched +settles for 30", result.stdout)), 3, result.stdout)
        result = self.redlock(*PATIENT, "acquire", "--try", self.name)
        self.expect(result, 64, "deployment b")
        self.expect(self.redlock(*PATIENT, "acquire", "--try", self.name, env=self.env(REDLOCK_DEPLOYMENT="b")), 69,
                    "do not vote yet")
        result = self.redlock("--deployment", "b", "init", "--reconfigure")
        self.expect(result, 0, "under another deployment name")

    def test_words_that_do_not_fit(self):
        self.expect(self.redlock("init", "--force", "--reconfigure", "-y"), 64, "exclude each other")
        self.expect(self.redlock("--no-guard", "init"), 64, "--no-guard")
        self.expect(self.redlock("--deployment", "a b", "init"), 64, "--deployment is")
        self.expect(self.redlock("--guard-grace", "5", "init"), 64, "--guard-grace: ")
        self.expect(self.redlock("init", env=self.env(REDLOCK_GUARD_GRACE="x")), 64, "REDLOCK_GUARD_GRACE: ")
        self.assertEqual(self.marks(), [None] * 3)

    def test_without_the_guard_nobody_settles(self):
        self.expect(self.redlock("--no-guard", *PATIENT, "acquire", "--try", self.name), 0)
        self.assertEqual((self.settling(), self.marks()), (0, [None] * 3))


class Status(Guard):
    def test_ready(self):
        self.expect(self.redlock("init"), 0)
        self.take(self.name)
        result = self.expect(self.redlock("status"), 0)
        self.assertEqual(len(re.findall(r"ready +master +7", result.stdout)), 3, result.stdout)
        self.assertIn("ready: 3 of 3 nodes vote, 2 are needed", result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertNotIn("\033", result.stdout)
        self.assertIn("\033[32mready", self.redlock("--color", "always", "status").stdout)

    def test_looking_changes_nothing(self):
        result = self.expect(self.redlock("status"), 69)
        self.assertIn("unmarked", result.stdout)
        self.expect(self.redlock("doctor"), 1)
        self.expect(self.redlock("inspect", self.name), 0)
        self.assertEqual((self.settling(), self.marks()), (0, [None] * 3))

    def test_settling_says_when(self):
        self.settle()
        result = self.expect(self.redlock("status"), 69)
        self.assertRegex(result.stdout, r"settling (30|2\d)\.\ds")
        self.assertRegex(result.stdout, r"not ready: 0 of 3 nodes vote, 2 are needed; ready in (30|2\d)\.\ds")
        seen = json.loads(self.redlock("--json", "status").stdout)
        self.assertTrue(0 < seen["ready_in_ms"] <= 30302, seen)

    def test_json(self):
        self.expect(self.redlock("init"), 0)
        for i in range(7):
            self.cluster.nodes[0].command("SET", f"lock:{i}", "x", "PX", "60000")
        seen = json.loads(self.expect(self.redlock("--json", "status"), 0).stdout)
        self.assertEqual((seen["ready"], seen["ready_in_ms"], seen["quorum"], seen["voting"]), (True, None, 2, 3))
        first = seen["nodes"][0]
        self.assertEqual(set(first), {
            "node", "state", "settling_left_ms", "version", "role", "run_id", "clock_offset_ms",
            "clock_uncertainty_ms", "round_trip_ms", "uptime_s", "locks", "more_locks", "error"})
        self.assertEqual((first["state"], first["role"], first["locks"], first["more_locks"]),
                         ("ready", "master", 7, False))
        self.assertLessEqual(abs(first["clock_offset_ms"]), first["clock_uncertainty_ms"] + 1)
        self.assertEqual(seen["nodes"][1]["locks"], 0)

    def test_other_settings_and_silent_nodes(self):
        self.expect(self.redlock("init"), 0)
        result = self.expect(self.redlock("--max-ttl", "20s", "status"), 69)
        self.assertIn("marked for 3 nodes, max_ttl 30s, deployment default; we are 3 nodes, max_ttl 20s",
                      result.stdout)
        nodes = ",".join([*(node.url() for node in self.cluster.nodes[:2]), f"redis://127.0.0.1:{free_port()}"])
        result = self.expect(self.redlock("--nodes", nodes, "status"), 0)
        self.assertIn("connection refused", result.stdout)
        self.assertIn("ready: 2 of 3", result.stdout)

    def test_narrow_terminals_lose_columns_not_rows(self):
        self.expect(self.redlock("init"), 0)
        for columns, shown, hidden in ((120, "RUN", "nothing"), (60, "CLOCK", "VERSION"), (34, "GUARD", "CLOCK")):
            program = self.typed("status", columns=columns)
            self.assertEqual(program.wait(), 0)
            text = re.sub(r"\033\[\d+m", "", program.seen)
            self.assertIn(shown, text)
            self.assertNotIn(hidden, text)
            self.assertEqual(text.count("127.0.0.1:"), 3)
            self.assertLessEqual(max(map(len, text.splitlines())), columns)


class Watch(Guard):
    def test_a_block_each_time_where_there_is_no_terminal(self):
        self.expect(self.redlock("init"), 0)
        watch = self.start("status", "--watch=100ms")
        text = "".join(watch.stdout.readline() for _ in range(14))
        self.assertEqual(text.count("ready: 3 of 3"), 2, text)
        self.assertNotIn("\033", text)
        watch.terminate()
        self.assertEqual(watch.wait(LIMIT), 143)
        watch = self.start("--json", "status", "--watch=100ms")
        self.assertEqual([json.loads(watch.stdout.readline())["voting"] for _ in range(2)], [3, 3])

    def test_on_a_terminal_it_repaints_and_restores(self):
        self.expect(self.redlock("init"), 0)
        program = self.typed("status", "--watch=100ms", rows=12)
        program.expect(re.escape("\033[?1049h\033[?25l"))
        for _ in range(3):
            program.expect(re.escape("\033[H"))
            program.expect(r"ready.*?: 3 of 3 nodes vote")
        self.assertEqual(program.seen.count("\033[2J"), 1, "wiped once, painted over then")
        program.expect("UPTIME")
        program.resize(5, 50)
        # Cut to five lines, with what matters in them.
        frame = "UPTIME"
        while "UPTIME" in frame:
            frame = program.expect(r"(?s)\033\[H.*?\033\[J").group(0)
        self.assertEqual(frame.count("\r\n"), 4, repr(frame))
        self.assertIn("3 of 3", frame)
        program.type("\x03")
        self.assertEqual(program.wait(), 130)
        self.assertTrue(program.seen.endswith("\033[?25h\033[?1049l"), repr(program.seen[-80:]))

    def test_interrupt_does_not_wait_for_a_silent_node(self):
        self.cluster.nodes[0].pause()
        self.addCleanup(self.cluster.nodes[0].resume)
        program = self.typed("status", "--watch")
        program.expect(re.escape("\033[?25l"))
        program.type("\x03")
        self.assertEqual(program.wait(), 130)

    def test_intervals(self):
        self.expect(self.redlock("status", "--watch=1ms"), 64, "the least is 100ms")
        self.expect(self.redlock("status", "--watch=x"), 64, "--watch: ")


class Doctor(Guard):
    def test_exit_codes_and_shapes(self):
        self.expect(self.redlock("init"), 0)
        result = self.expect(self.redlock("doctor"), 1)  # open, and all on one host
        self.assertRegex(result.stdout, r"warning +open +all nodes\n")
        self.assertRegex(result.stdout, r"0 errors, \d+ warnings, \d notes?\n")
        self.cluster.nodes[1].command("SET", "lock:endless", "x")
        result = self.expect(self.redlock("--json", "doctor"), 2)
        findings = json.loads(result.stdout)["findings"]
        self.assertEqual(set(findings[0]), {"id", "severity", "nodes", "what", "remedy"})
        self.assertEqual((findings[0]["id"], findings[0]["severity"]), ("endless-keys", "error"))
        self.assertEqual(findings[0]["nodes"], [f"127.0.0.1:{self.cluster.nodes[1].port}"])

    def test_narrow_terminals_wrap(self):
        self.expect(self.redlock("init"), 0)
        program = self.typed("doctor", columns=50)
        self.assertEqual(program.wait(), 1)
        text = re.sub(r"\033\[\d+m", "", program.seen)
        self.assertLessEqual(max(map(len, text.splitlines())), 50)
        self.assertIn("-> ", text)


if __name__ == "__main__":
    main()
