"""redlock run: exit codes, environment, descriptors, signals, waiting. Terminals and lost leases have their own files."""

import json
import os
import random
import signal
import subprocess
import sys
import time

from support import LIMIT, PATIENT, PROGRAM, ProgramTest, eventually, in_some_round, main

FORWARDED = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
             signal.SIGALRM, signal.SIGWINCH, signal.SIGRTMIN + 3]

# Says "on" when its handlers are in place, then what it hears.
LISTENER = """
import signal, sys
def heard(number, frame):
    print(number, flush=True)
    sys.exit(10)
for number in [%s]: signal.signal(number, heard)
print("on", flush=True)
while True: signal.pause()
""" % ", ".join(str(int(number)) for number in FORWARDED)


class ExitCodes(ProgramTest):
    def run_shell(self, script, *options, **more):
        return self.redlock("run", *options, self.name, "--", "sh", "-c", script, **more)

    def test_the_commands_own(self):
        for code in (0, 1, 7, 64, 75, 76, 255):
            with self.subTest(code=code):
                result = self.expect(self.run_shell(f"exit {code}"), code)
                self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_killed_by_a_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGUSR1):
            with self.subTest(signal=number):
                result = self.expect(self.run_shell(f"kill -{int(number)} $$"), 128 + number)
                self.assertEqual(result.stderr, "")
        self.assert_free(self.name)

    def test_not_found_and_not_executable(self):
        with open(self.path("plain"), "w", encoding="utf-8") as file:
            file.write("no program\n")
        for command, code in ((["no-such-command"], 127), (["/no/such/command"], 127), ([""], 127),
                              ([self.path("plain")], 126), ([self.folder], 126)):
            with self.subTest(command=command):
                self.expect(self.redlock("run", self.name, "--", *command), code, "'")
                self.assert_free(self.name)
        self.expect_json_error(self.redlock("--json", "run", self.name, "--", "no-such-command"), 127, "not_found")
        self.expect_json_error(self.redlock("--json", "run", self.name, "--", self.folder), 126, "not_executable")

    def test_held_by_somebody_else(self):
        self.take(self.name)
        marker = self.path("started")
        for options, code in ((["--try"], 75), (["--wait", "3s"], 75),
                              (["--try", "--conflict-exit-code", "0"], 0),
                              (["--try", "--conflict-exit-code", "255"], 255)):
            with self.subTest(options=options):
                self.expect(self.run_shell(f"touch {marker}", *PATIENT, *options), code, "held by somebody else")
        self.assertFalse(os.path.exists(marker))

    def test_waits_for_its_turn(self):
        token = self.take(self.name)
        waiter = self.start("run", self.name, "--", "echo", "my turn")
        self.assertRaises(subprocess.TimeoutExpired, waiter.wait, 0.3)
        self.expect(self.redlock("release", self.name, token), 0)
        out, err = waiter.communicate(timeout=LIMIT)
        self.assertEqual((waiter.returncode, out, err), (0, "my turn\n", ""))

    def test_one_after_the_other(self):
        count = self.path("count")
        with open(count, "w", encoding="utf-8") as file:
            file.write("0\n")
        add = f"n=$(cat {count}); sleep 0.02; echo $((n + 1)) > {count}"
        runs = [self.start("run", self.name, "--", "sh", "-c", add) for _ in range(8)]
        self.assertEqual([run.wait(LIMIT) for run in runs], [0] * 8)
        self.assertEqual(self.content(count), "8\n")

    def test_released_while_it_ran(self):
        delete = f'{PROGRAM} release "$REDLOCK_NAME" "$REDLOCK_TOKEN"; exit 5'
        result = self.run_shell(delete)
        self.expect(result, 76, "was gone from the nodes when the command ended")

    def test_quiet_and_json_leave_standard_output_to_the_command(self):
        result = self.expect(self.redlock("--json", "run", self.name, "--", "echo", "mine"), 0)
        self.assertEqual((result.stdout, result.stderr), ("mine\n", ""))
        delete = f'{PROGRAM} --json release "$REDLOCK_NAME" "$REDLOCK_TOKEN"'
        result = self.redlock("--json", "run", self.name, "--", "sh", "-c", delete)
        self.expect(result, 76)
        self.assertEqual(json.loads(result.stdout)["result"], "released")  # of the inner one alone

    def test_release_on_a_minority_keeps_the_code_and_warns(self):
        def pause(pause_them):
            for node in self.cluster.nodes[:3]:
                (node.pause if pause_them else node.resume)()
        self.addCleanup(pause, False)
        process = self.start("run", self.name, "--", "sh", "-c", "read x; exit 9", stdin=subprocess.PIPE)
        eventually(lambda: sum(o is not None for o in self.cluster.owners(self.name)) >= 3, "it is held")
        pause(True)
        out, err = process.communicate("go\n", timeout=LIMIT)
        self.assertEqual((process.returncode, out), (9, ""), err)
        self.assertIn("could not be released on a majority", err)


class Surroundings(ProgramTest):
    def test_name_and_token(self):
        script = ('test "$(%s --json inspect "$REDLOCK_NAME" | grep -c "$REDLOCK_TOKEN")" = 1 && '
                  '%s extend "$REDLOCK_NAME" "$REDLOCK_TOKEN" && echo "$REDLOCK_NAME"' % (PROGRAM, PROGRAM))
        result = self.redlock("run", "größe 1", "--", "sh", "-c", script)
        self.assertEqual(self.expect(result, 0).stdout, "größe 1\n")

    def descriptors(self, *before, **options):
        listing = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
        result = subprocess.run([*before, sys.executable, "-c", listing], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, env=self.env(), timeout=LIMIT, check=True, **options)
        return result.stdout

    def test_no_descriptor_of_ours_reaches_the_command(self):
        program = [PROGRAM, "-v", "run", self.name, "--"]
        self.assertEqual(self.descriptors(*program), self.descriptors())
        with open("/dev/null", "rb") as passed:
            keep = {"pass_fds": [passed.fileno()]}
            self.assertEqual(self.descriptors(*program, **keep), self.descriptors(**keep))
        closed = {"preexec_fn": lambda: os.close(0)}
        self.assertEqual(self.descriptors(*program, **closed), self.descriptors(**closed))

    def signal_state(self, *before, **options):
        result = subprocess.run([*before, "grep", "-E", "^(SigBlk|SigIgn)", "/proc/self/status"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self.env(), timeout=LIMIT,
                                check=True, **options)
        return result.stdout

    def test_signal_mask_and_dispositions_are_as_they_were(self):
        def strange():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
            for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_IGN)
        program = [PROGRAM, "run", self.name, "--"]
        self.assertEqual(self.signal_state(*program, restore_signals=False),
                         self.signal_state(restore_signals=False))
        self.assertEqual(self.signal_state(*program), self.signal_state())
        self.assertEqual(self.signal_state(*program, restore_signals=False, preexec_fn=strange),
                         self.signal_state(restore_signals=False, preexec_fn=strange))

    def test_standard_streams_pass_through(self):
        result = subprocess.run([PROGRAM, "run", self.name, "--", "sh", "-c", "cat; echo err >&2"], input="in\n",
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env(),
                                timeout=LIMIT, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "in\n", "err\n"))

    def test_a_group_of_its_own(self):
        result = self.redlock("run", self.name, "--", sys.executable, "-c",
                              "import os; print(os.getpid() == os.getpgrp() != os.getpgid(os.getppid()))")
        self.assertEqual(self.expect(result, 0).stdout, "True\n")

    def test_what_the_command_left_behind_is_not_waited_for(self):
        result = self.redlock("run", self.name, "--", "sh", "-c",
                              f"sleep 100 > /dev/null 2>&1 & echo $! > {self.path('pid')}")
        self.expect(result, 0)
        os.kill(int(self.content(self.path("pid"))), signal.SIGKILL)
        self.assert_free(self.name)


class Signals(ProgramTest):
    def test_forwarded(self):
        for number in FORWARDED:
            with self.subTest(signal=number):
                process = self.start("run", self.name, "--", sys.executable, "-c", LISTENER)
                self.assertEqual(process.stdout.readline(), "on\n")
                process.send_signal(number)
                out, err = process.communicate(timeout=LIMIT)
                self.assertEqual((process.returncode, out, err), (10, f"{int(number)}\n", ""))

    def test_forwarded_to_the_whole_group(self):
        listen = self.path("listen.py")
        with open(listen, "w", encoding="utf-8") as file:
            file.write(LISTENER)
        script = f"{sys.executable} {listen} > {self.path('inner')} & trap 'wait; exit 3' TERM; echo on; wait"
        process = self.start("run", self.name, "--", "sh", "-c", script)
        self.assertEqual(process.stdout.readline(), "on\n")
        self.content(self.path("inner"))
        process.terminate()
        process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 3)
        self.assertEqual(self.content(self.path("inner")), "on\n15\n")

    def test_by_default_it_ends_the_command(self):
        process = self.start("run", self.name, "--", "sh", "-c", "echo on; exec sleep 100")
        self.assertEqual(process.stdout.readline(), "on\n")
        process.terminate()
        self.assertEqual(process.wait(LIMIT), 143)
        self.assert_free(self.name)

    def test_interrupted_while_waiting_it_starts_nothing(self):
        token = self.take(self.name)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.start("run", self.name, "--", "touch", self.path("started"))
                self.wait_until_it_listens(process)
                process.send_signal(number)
                out, err = process.communicate(timeout=LIMIT)
                self.assertEqual((process.returncode, out), (128 + number, ""), err)
                self.assertIn("nothing is held", err)
        self.assertFalse(os.path.exists(self.path("started")))
        self.expect(self.redlock("release", self.name, token), 0)
        self.assert_free(self.name)

    @staticmethod
    def wait_until_it_listens(process):
        def blocked():
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
                mask = next(line for line in status if line.startswith("SigBlk:"))
            return int(mask.split()[1], 16) >> (signal.SIGTERM - 1) & 1
        eventually(blocked, "signals are taken")

    def test_signals_around_the_grant(self):
        """Whenever it comes: either nothing was started, or what was started got the signal; and nothing is left."""
        random.seed(1)
        for _ in range(60):
            process = self.start("run", self.name, "--", "sh", "-c", "echo on; sleep 100; echo survived")
            self.wait_until_it_listens(process)
            time.sleep(random.uniform(0, 0.02))
            process.terminate()
            out, err = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 143, (out, err))
            self.assertNotIn("survived", out)
            if "nothing is held" in err:
                self.assertEqual(out, "")
        self.assert_free(self.name)

    def test_killed_itself_it_leaves_the_command_and_the_lock_expires(self):
        """SIGKILL cannot be heard: nobody ends the command, nobody extends the lock, nobody gives it back."""
        script = f"echo $$ $REDLOCK_TOKEN > {self.path('pid')}; exec sleep 1000"
        process = self.start("run", "--ttl", "3s", self.name, "--", "sh", "-c", script)
        pid, token = self.content(self.path("pid")).split()
        try:
            process.kill()
            self.assertEqual(process.wait(LIMIT), -signal.SIGKILL)
            # For its ttl at most nobody else can have it, since that is what the command was promised.
            left = [node.command("PTTL", "lock:" + self.name) for node in self.cluster.nodes
                    if node.command("GET", "lock:" + self.name) == token]
            self.assertTrue(all(life <= 3000 for life in left), left)
            self.expect(self.redlock("run", self.name, "--", "true"), 0)  # waits until it has expired
            self.assertNotIn(token, self.cluster.owners(self.name))
            os.kill(int(pid), 0)  # the command still runs, unprotected
        finally:
            os.kill(int(pid), signal.SIGKILL)
        self.assert_free(self.name)

    def test_a_command_that_is_stopped_alone_keeps_its_lease(self):
        def kept():
            process = self.start("run", "--ttl", "1s", self.name, "--", "sh", "-c", "echo $$; read x; exit 4",
                                 stdin=subprocess.PIPE)
            pid = int(process.stdout.readline())
            self.assertIsNone(process.poll())
            os.kill(pid, signal.SIGSTOP)
            token = self.cluster.nodes[0].command("GET", "lock:" + self.name)
            time.sleep(2.2)  # more than two ttl
            self.assertIsNone(process.poll())
            if token is not None:
                self.assertIn(token, self.cluster.owners(self.name))
            os.kill(pid, signal.SIGCONT)
            process.communicate("go\n", timeout=LIMIT)
            self.assertEqual(process.returncode, 4)
        in_some_round(kept)


if __name__ == "__main__":
    main()
