"""redlock break: whom it hits, what it asks, what it waits for, and what it says."""

import json
import os
import pty
import re
import select
import signal
import time

from support import LIMIT, PATIENT, PROGRAM, ProgramTest, eventually, free_port, main


class Talk:
    """The program on a terminal of its own."""

    def __init__(self, env, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(PROGRAM, [PROGRAM, *words], env)
        self.seen = ""
        self.code = None

    def read(self):
        if select.select([self.fd], [], [], 0.1)[0]:
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                return False
        return True

    def expect(self, pattern):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.seen):
            if time.monotonic() > end or not self.read():
                raise AssertionError(f"not seen: {pattern!r} in {self.seen!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """The exit code; reads what is left."""
        while self.read():
            pass
        return self.wait()

    def wait(self):
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self.fd)
        return self.code

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


class Break(ProgramTest):
    def talk(self, *words):
        talk = Talk(self.env(), *words)
        self.addCleanup(talk.close)
        return talk

    def hold(self, ttl):
        """`redlock run` with its lock; the value is the process and the token."""
        run = self.start("run", "--ttl", ttl, self.name, "--", "sh", "-c", "echo $REDLOCK_TOKEN; exec sleep 1000")
        return run, run.stdout.readline().strip()

    def test_a_living_holder_is_told_and_heals_nothing(self):
        run, token = self.hold("3s")
        result = self.expect(self.redlock("--json", "break", "--yes", self.name), 0)
        broken = json.loads(result.stdout)
        self.assertEqual(list(broken), ["name", "result", "waited_ms", "expires_in_ms", "nodes"])
        self.assertEqual((broken["name"], broken["result"], broken["expires_in_ms"]), (self.name, "broken", 0))
        owners = [node["owner"] for node in broken["nodes"]]
        self.assertGreaterEqual(owners.count(token), 3)
        lives = [node["time_left_ms"] for node in broken["nodes"] if node["time_left_ms"] is not None]
        self.assertGreaterEqual(broken["waited_ms"], max(lives))
        self.assertTrue(all(node["broken"] for node in broken["nodes"]))
        out, err = run.communicate(timeout=LIMIT)
        self.assertEqual(run.returncode, 76, err)
        self.assertIn("the lease was lost", err)
        self.assert_free(self.name)

    def test_others_have_to_wait_as_long(self):
        token = self.take(self.name, "4s")
        breaker = self.start("break", "--yes", self.name)
        eventually(lambda: token not in self.cluster.owners(self.name), "taken over")
        self.expect(self.redlock(*PATIENT, "acquire", "--try", self.name), 75, "held by somebody else")
        out, err = breaker.communicate(timeout=LIMIT)
        self.assertEqual((breaker.returncode, err), (0, ""))
        self.assertIn("broken on 5 of 5 nodes; nobody had it for", out)
        self.expect(self.redlock(*PATIENT, "acquire", "--try", self.name), 0)

    def test_now_waits_for_nobody(self):
        self.take(self.name, "30s")
        result = self.expect(self.redlock("--json", "break", "--yes", "--now", self.name), 0)
        self.assertLess(json.loads(result.stdout)["waited_ms"], 20000)
        self.assert_free(self.name)

    def test_nothing_there(self):
        self.expect(self.redlock("break", "--yes", self.name), 1, "is held by nobody")
        result = self.expect(self.redlock("--json", "-q", "break", "--yes", self.name), 1)
        self.assertEqual((json.loads(result.stdout)["result"], result.stderr), ("nothing", ""))
        talk = self.talk("break", self.name)
        self.assertEqual(talk.end(), 1)
        self.assertNotIn("[y/N]", talk.seen)

    def test_without_a_terminal_it_has_to_be_told(self):
        token = self.take(self.name)
        self.expect(self.redlock("break", self.name), 64, "there is no terminal to ask on; write --yes")
        self.assertIn(token, self.cluster.owners(self.name))
        self.expect_json_error(self.redlock("--json", "break", self.name), 64, "invalid")

    def test_asks_and_hears_no(self):
        token = self.take(self.name)
        for answer in ("n\n", "\n", "nyet\n", "\x04", "yy\n"):
            with self.subTest(answer=answer):
                talk = self.talk("break", self.name)
                talk.expect(r"\[y/N\] ")
                self.assertIn(token, talk.seen)
                self.assertIn("left", talk.seen)
                talk.type(answer)
                self.assertEqual(talk.end(), 75)
                self.assertIn("was left to its holder", talk.seen)
        talk = self.talk("break", self.name)
        talk.expect(r"\[y/N\] ")
        talk.type("\x03")
        self.assertEqual(talk.end(), 130)
        self.assertIn("nothing is broken", talk.seen)
        self.assertGreaterEqual(self.cluster.owners(self.name).count(token), 3)

    def test_asks_and_hears_yes(self):
        self.take(self.name, "4s")
        talk = self.talk("break", self.name)
        talk.expect(r"in about [\d.]+m?s\. \[y/N\] ")
        talk.type("y\n")
        talk.expect("taken from its holder, who may still believe to have it for")
        self.assertEqual(talk.end(), 0)
        self.assertIn("broken on 5 of 5", talk.seen)
        self.assert_free(self.name)

    def test_now_is_asked_about_as_such(self):
        self.take(self.name)
        talk = self.talk("break", "--now", self.name)
        talk.expect(r"Delete it at once\?.*\[y/N\] ")
        talk.type("yes\n")
        self.assertEqual(talk.end(), 0)
        self.assert_free(self.name)

    def test_only_the_one_that_was_shown(self):
        first = self.take(self.name)
        talk = self.talk("break", self.name)
        talk.expect(r"\[y/N\] ")
        self.expect(self.redlock("release", self.name, first), 0)
        second = self.take(self.name)
        talk.type("y\n")
        self.assertEqual(talk.end(), 75)
        self.assertIn("changed hands", talk.seen)
        self.assertGreaterEqual(self.cluster.owners(self.name).count(second), 3)

    def test_interrupted_it_leaves_nothing_for_ever(self):
        token = self.take(self.name)
        for number in (signal.SIGINT, signal.SIGTERM):
            breaker = self.start("break", "--yes", self.name)
            eventually(lambda: token not in self.cluster.owners(self.name), "taken over")
            breaker.send_signal(number)
            out, err = breaker.communicate(timeout=LIMIT)
            self.assertEqual((breaker.returncode, out), (128 + number, ""), err)
            self.assertIn("is taken from its holder", err)
            self.assertIn("expire by themselves", err)
            token = self.cluster.owners(self.name)[0]
        for node in self.cluster.nodes:
            self.assertTrue(0 < node.command("PTTL", "lock:" + self.name) < 60000)
        self.expect(self.redlock("break", "--yes", "--now", self.name), 0)

    def test_faults_are_ended_too(self):
        self.cluster.nodes[0].command("SET", "lock:" + self.name, "x")
        self.cluster.nodes[1].command("RPUSH", "lock:" + self.name, "x")
        self.expect(self.redlock("inspect", self.name), 65)
        result = self.expect(self.redlock("break", "--yes", "--max-ttl", "500ms", self.name), 0)
        self.assertIn("(list)", result.stdout)
        self.assertIn("never expires", result.stdout)
        self.assert_free(self.name)

    def test_minority_and_majority_down(self):
        token = self.take(self.name)
        urls = [node.url() for node in self.cluster.nodes]
        dead = [f"redis://127.0.0.1:{free_port()}" for _ in range(3)]
        env = self.env(REDLOCK_NODES=",".join(urls[:2] + dead))
        eventually(lambda: self.cluster.owners(self.name)[0] == token, "everywhere")
        self.expect(self.redlock("break", "--yes", self.name, env=env), 69, "no majority of the nodes")
        error = self.expect_json_error(self.redlock("--json", "break", "--yes", self.name, env=env), 69, "no_quorum")
        self.assertEqual(len(error["nodes"]), 5)
        self.take(self.name + "2")
        env = self.env(REDLOCK_NODES=",".join(urls[:3] + dead[:2]))
        result = self.expect(self.redlock("break", "--yes", "--now", self.name + "2", env=env), 0)
        self.assertIn("broken on 3 of 5 nodes", result.stdout)
        self.assertIn("was not broken on every node", result.stderr)
        self.assertRegex(result.stdout, r"unreachable .* not broken\n")

    def test_quiet(self):
        self.take(self.name)
        result = self.expect(self.redlock("-q", "break", "--yes", "--now", self.name), 0)
        self.assertEqual((result.stdout, result.stderr), ("", ""))


class Denied(ProgramTest):
    options = ("--requirepass", "geheim")

    def test_denied(self):
        self.expect(self.redlock("break", "--yes", "n"), 77, "'n': ")
        self.expect(self.redlock("break", "--yes", "n", env=self.env(REDLOCK_PASSWORD="geheim")), 1)


if __name__ == "__main__":
    main()
