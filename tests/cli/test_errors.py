"""What a new user runs into: each line says what was wrong, where, and what to do. Mistakes of usage are in test_usage.py."""

import resource

from support import PATIENT, PROGRAM, ProgramTest, free_port, main

STRANGER = "0" * 31 + "1"


class Errors(ProgramTest):
    def test_each_says_what_to_do(self):
        """command line, exit code, what was wrong and where, what to do"""
        self.take(self.name)
        dead = f"redis://127.0.0.1:{free_port()}"
        with open(self.path("plain"), "w", encoding="utf-8") as file:
            file.write("no program\n")
        for words, code, fault, remedy in (
            ([*PATIENT, "acquire", "--try", self.name], 75, f"'{self.name}': held by somebody else",
             "wait for it (--wait), or see whose it is with 'redlock inspect'"),
            (["run", "--wait", "3s", self.name, "--", "true"], 75, "refused, held by another token", "redlock inspect"),
            (["extend", self.name, STRANGER], 76, "the lease is over", "acquire it anew"),
            (["--deployment", "other", *PATIENT, "acquire", "--try", "n"], 64, "since the guards differ (its guard says", "'redlock init --reconfigure'"),
            (["init", "--force"], 64, "there is no terminal", "write --yes"),
            (["release", "n", "x" * 32], 64, "TOKEN: ", "32 hexadecimal digits"),
            (["break", self.name], 64, "there is no terminal", "write --yes"),
            (["--nodes", dead, "acquire", "--try", "n"], 69, "connection refused", "check that these nodes run"),
            (["--nodes", dead, "release", "n", STRANGER], 69, "connection refused", "check that these nodes run"),
            (["--nodes", dead, "break", "--yes", "n"], 69, "connection refused", "check that these nodes run"),
            (["--nodes", "redis://name.invalid", "acquire", "--try", "n"], 69, "cannot look up name.invalid", "--nodes"),
            (["--nodes", "unix:///nowhere", "acquire", "--try", "n"], 69, "/nowhere: no vote", "--nodes"),
            (["--nodes", self.cluster.nodes[0].url("u:geheim@"), *PATIENT, "acquire", "--try", "n"], 77, "WRONGPASS",
             "check the password (--password-file, REDLOCK_PASSWORD)"),
            (["--nodes", self.cluster.nodes[0].url().replace("redis:", "rediss:"), "acquire", "--try", "n"], 69,
             "TLS handshake", "redis:// is without"),
            (["--tls-ca", "/nowhere", "inspect", "n"], 64, "--tls-ca: cannot read '/nowhere'", "write rediss://"),
            (["run", "n", "--", "no-such-command"], 127, "'no-such-command': command not found", "PATH"),
            (["run", "n", "--", self.path("plain")], 126, "Permission denied", "executable?"),
        ):
            with self.subTest(words=words):
                result = self.expect(self.redlock(*words), code, fault)
                self.assertIn(remedy, result.stderr)
                self.assertNotIn("geheim", result.stderr)
                self.assertTrue(result.stderr[:-1].isprintable())
                json = self.redlock("--json", *words)
                self.assertEqual(json.returncode, code)
                self.assertIn(remedy, json.stdout)

    def test_too_few_open_files(self):
        """libuv itself gives up without a word below eight; the sanitizer of undefined behaviour looks at memory through
        pipes, and takes every object for a wrong one when it gets none."""
        with open(PROGRAM, "rb") as file:
            if b"__ubsan_handle" in file.read():
                self.skipTest("not with this sanitizer")
        for limit in range(8, 13):
            with self.subTest(limit=limit):
                result = self.redlock("acquire", "--try", "n", preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_NOFILE, (limit, limit)))
                # A little more, and it is the nodes that cannot be connected to.
                self.expect(result, 70 if result.returncode == 70 else 69, "oo many open files")
                if result.returncode == 70:
                    self.assertIn("; allow more open files (ulimit -n)", result.stderr)

    def test_a_lease_that_ended(self):
        run = self.start("run", "--max-hold", "500ms", self.name, "--", "sleep", "1000")
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 76)
        self.assertRegex(err, r"^redlock: .*: --max-hold 500ms is over; .*; give it more time with --max-hold\n$")
        run = self.start("run", "--ttl", "2s", self.name, "--", "sh", "-c", "echo on; exec sleep 1000")
        self.assertEqual(run.stdout.readline(), "on\n")
        self.expect(self.redlock("break", "--yes", "--now", self.name), 0)
        for node in self.cluster.nodes:
            node.command("SET", "lock:" + self.name, "another", "PX", 60000)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 76)
        self.assertIn("or somebody broke it; the command was killed; if it was slow nodes, a longer --ttl helps", err)


if __name__ == "__main__":
    main()
