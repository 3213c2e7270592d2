"""redlock run on a pseudo-terminal, under an interactive bash: ^C, ^Z and fg, background jobs, pipelines."""

import os
import pty
import re
import select
import signal
import sys
import time

from support import LIMIT, PROGRAM, ProgramTest, eventually, main

PROMPT = "prompt> "


class Shell:
    """An interactive bash on a terminal of its own."""

    def __init__(self, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"],
                       {**env, "PS1": PROMPT, "HISTFILE": "/dev/null", "redlock": PROGRAM})
        self.seen = ""   # all of it
        self.taken = 0   # what expect() went past
        self.expect(re.escape(PROMPT))

    def read(self, seconds):
        """False at the end of the terminal."""
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            self.seen += data.decode(errors="replace")
        return True

    def expect(self, pattern):
        """Waits until the pattern is seen behind the last one; the value is the match."""
        end = time.monotonic() + LIMIT
        while True:
            match = re.search(pattern, self.seen[self.taken:])
            if match:
                self.taken += match.end()
                return match
            if time.monotonic() > end or not self.read(0.1):
                raise AssertionError(f"not seen: {pattern!r} in {self.seen[self.taken:]!r} after {self.seen!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        """Types a command; what the terminal echoes is passed over."""
        self.type(text + "\n")
        self.expect(re.escape(text[-30:]) + r"\r\n")

    def prompt(self):
        self.expect(re.escape(PROMPT))

    def foreground(self):
        """fg; returns when the shell has named the job, which it does just before it hands the terminal over."""
        self.line("fg")
        self.expect(r"run .*\r\n")

    def code(self):
        """The exit code of the command that just ended."""
        self.prompt()
        self.line("echo code=$?")
        return int(self.expect(r"code=(\d+)").group(1))

    def close(self):
        for number in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                break
            if number == signal.SIGHUP:
                time.sleep(0.05)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Terminal(ProgramTest):
    def setUp(self):
        super().setUp()
        self.shell = Shell(self.env())
        self.addCleanup(self.shell.close)

    def run_line(self, command, *options):
        self.shell.line(f"$redlock run {' '.join(options)} {self.name} -- {command}")

    def script(self, text):
        path = self.path(f"script{len(os.listdir(self.folder))}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return f"{sys.executable} {path}"

    def test_interrupt_goes_to_the_command(self):
        self.run_line("sh -c 'trap \"echo heard; exit 3\" INT; echo ready; while :; do sleep 0.05; done'")
        self.shell.expect("ready\r\n")
        self.shell.type("\x03")
        self.shell.expect("heard")
        self.assertEqual(self.shell.code(), 3)
        self.assert_free(self.name)

    def test_interrupt_ends_a_command_that_has_no_opinion(self):
        for key, code in (("\x03", 130), ("\x1c", 131)):
            self.run_line("sh -c 'echo ready; exec sleep 100'")
            self.shell.expect("ready\r\n")
            self.shell.type(key)
            self.assertEqual(self.shell.code(), code)
        self.assert_free(self.name)

    def test_interrupt_ends_the_script_around_it(self):
        path = self.path("around.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"$redlock run {self.name} -- sh -c 'echo ready; exec sleep 100'\necho went on\n")
        self.shell.line(f"bash {path}")
        self.shell.expect("ready\r\n")
        self.shell.type("\x03")
        self.assertEqual(self.shell.code(), 130)
        self.assertNotIn("went on", self.shell.seen)

    def test_the_script_around_it_has_the_terminal_afterwards(self):
        path = self.path("around.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"$redlock run {self.name} -- sh -c 'read x; echo first $x'\nread y\necho second $y\n")
        self.shell.line(f"bash {path}")
        self.shell.type("one\n")
        self.shell.expect("first one")
        self.shell.type("two\n")
        self.shell.expect("second two")
        self.assertEqual(self.shell.code(), 0)

    def test_stop_and_foreground(self):
        self.run_line("cat")
        self.shell.type("one\n")
        self.shell.expect("one\r\none\r\n")
        self.shell.type("\x1a")
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.line("jobs")
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.foreground()
        self.shell.type("two\n")
        self.shell.expect("two\r\ntwo\r\n")
        self.shell.type("\x1a")  # and once more
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.foreground()
        self.shell.type("three\n")
        self.shell.expect("three\r\nthree\r\n")
        self.shell.type("\x04")
        self.assertEqual(self.shell.code(), 0)
        self.assert_free(self.name)

    def test_stop_and_background(self):
        # No shell that starts programs: between its vfork and the exec of the child, which has stopped, it cannot stop.
        self.run_line(self.script("import os, time\nprint('ready', flush=True)\n"
                                  f"while not os.path.exists({self.path('go')!r}): time.sleep(0.05)\n"
                                  "raise SystemExit(6)\n"))
        self.shell.expect("ready\r\n")
        self.shell.type("\x1a")
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.line("bg")
        self.shell.prompt()
        self.shell.line("jobs")
        self.shell.expect("Running")
        self.shell.prompt()
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        self.shell.line("wait %1")
        self.assertEqual(self.shell.code(), 6)

    def test_a_background_job_reads_when_it_is_in_the_foreground(self):
        self.run_line("cat &")
        self.shell.prompt()
        def stopped():
            self.shell.line("jobs")
            self.shell.prompt()
            return "Stopped" in self.shell.seen
        eventually(stopped, "the job stops since it reads")
        self.shell.foreground()
        self.shell.type("hello\n")
        self.shell.expect("hello\r\nhello\r\n")
        self.shell.type("\x04")
        self.assertEqual(self.shell.code(), 0)

    def test_a_running_background_job_comes_to_the_foreground(self):
        self.run_line(f"sh -c 'while ! test -e {self.path('go')}; do sleep 0.05; done; read x; echo got $x' &")
        self.shell.prompt()
        self.shell.foreground()
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        self.shell.type("it\n")
        self.shell.expect("got it")
        self.assertEqual(self.shell.code(), 0)

    def test_lost_while_stopped_it_is_ended_and_not_continued(self):
        beats = self.path("beats")
        heart = self.script(
            "import os, time\n"
            f"file = os.open({beats!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
            "while True:\n    os.write(file, b'beat\\n')\n    time.sleep(0.002)\n")
        self.run_line(heart, "--ttl 4s")  # long enough to start on a busy machine
        self.content(beats)
        self.shell.type("\x1a")
        self.shell.expect("Stopped")
        self.shell.prompt()
        eventually(lambda: self.cluster.owners(self.name) == [None] * 5, "the keys expired")
        before = os.path.getsize(beats)
        self.shell.foreground()
        self.shell.expect("the lease was lost")
        self.assertEqual(self.shell.code(), 76)
        self.assertEqual(os.path.getsize(beats), before)

    def test_lost_in_the_foreground(self):
        self.run_line("sh -c 'stty -echo; echo ready; exec sleep 100'", "--ttl 4s")
        self.shell.expect("ready\r\n")
        for node in self.cluster.nodes:
            node.command("SET", "lock:" + self.name, "another", "PX", 5000)
        self.shell.expect("the lease was lost")
        self.assertEqual(self.shell.code(), 76)  # needs the echo, which the killed command had switched off

    def test_waiting_shows_itself_and_can_be_given_up(self):
        self.take(self.name)
        self.run_line("echo never")
        self.shell.expect(r"waiting for '%s' \(\d+ s" % self.name)
        self.shell.type("\x03")
        self.shell.expect("interrupted by SIGINT")
        self.assertEqual(self.shell.code(), 130)
        self.assertNotIn("\nnever", self.shell.seen)

    def test_waiting_can_be_stopped_and_goes_on(self):
        token = self.take(self.name)
        self.run_line("echo its turn")
        self.shell.expect("waiting for")
        self.shell.type("\x1a")
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.expect(self.redlock("release", self.name, token), 0)
        self.shell.foreground()
        self.shell.expect(r"its turn\r\n")
        self.assertEqual(self.shell.code(), 0)

    def test_quiet_waiting_is_silent(self):
        self.take(self.name)
        self.shell.line(f"$redlock -q run --wait 4s {self.name} -- echo never")
        self.assertEqual(self.shell.code(), 75)
        self.assertNotIn("waiting for", self.shell.seen)

    def test_in_a_pipeline_the_others_keep_the_terminal(self):
        # The last of the pipeline reads the terminal, as a pager does.
        pager = self.script("import sys\nprint(sys.stdin.read().strip(), flush=True)\n"
                            "print('got', open('/dev/tty').readline(), flush=True)\n")
        self.run_line(f"echo text | {pager}")
        self.shell.expect("text\r\n")
        self.shell.type("key\n")
        self.shell.expect("got key")
        self.assertEqual(self.shell.code(), 0)

    def test_in_a_pipeline_the_command_gets_the_terminal_when_it_asks(self):
        self.run_line("sh -c 'echo ready; read x < /dev/tty; echo got $x' | cat")
        self.shell.expect("ready\r\n")
        self.shell.type("key\n")
        self.shell.expect("got key")
        self.assertEqual(self.shell.code(), 0)

    def test_interrupt_in_a_pipeline(self):
        self.run_line("sh -c 'echo ready; exec sleep 100' | cat")
        self.shell.expect("ready\r\n")
        self.shell.type("\x03")
        self.assertEqual(self.shell.code(), 130)
        self.assert_free(self.name)

    def test_an_interactive_shell_as_the_command(self):
        self.run_line("env PS1='inner: ' bash --norc --noprofile --noediting -i")
        self.shell.expect("inner: ")
        self.shell.line("cat")
        self.shell.type("x\n")
        self.shell.expect("x\r\nx\r\n")
        self.shell.type("\x03")
        self.shell.expect("inner: ")
        self.shell.line("exit 8")
        self.assertEqual(self.shell.code(), 8)

    def test_color_only_on_a_terminal(self):
        self.shell.line(f"$redlock -v inspect {self.name}; $redlock acquire --ttl 1 n")
        self.shell.expect("\033\\[3")
        self.shell.expect("\033\\[31mredlock:\033\\[0m --ttl")

    def test_hang_up_ends_it(self):
        self.run_line(f"sh -c 'echo $$ > {self.path('pid')}; exec sleep 100'")
        pid = int(self.content(self.path("pid")))
        os.kill(self.shell.pid, signal.SIGHUP)
        def gone():
            self.shell.read(0)
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            return False
        eventually(gone, "the command ended")
        self.assert_free(self.name)


if __name__ == "__main__":
    main()
