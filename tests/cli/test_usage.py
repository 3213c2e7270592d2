"""Bad input: each mistake is one line that says what was wrong and what would be right, and exit code 64."""

import json
import subprocess
import tempfile
import unittest

from support import LIMIT, PROGRAM, environment, main

NODES = ["--nodes", "redis://127.0.0.1:1"]
TOKEN = "0123456789abcdef0123456789abcdef"

# words of the command line, a part of the line that must come
MISTAKES = [
    ([], "a command is missing"),
    (["--json"], "a command is missing"),
    (["lock"], "unknown command 'lock'"),
    (["--frob", "inspect", "n"], "unknown option '--frob'"),
    (["inspect", "--frob", "n"], "unknown option '--frob'"),
    (["inspect", "-x", "n"], "unknown option '-x'"),
    (["inspect"], "NAME is missing"),
    (["run"], "NAME is missing"),
    (["run", "--", "true"], "NAME is missing"),
    (["run", "n"], "the command is missing"),
    (["run", "n", "--"], "the command is missing"),
    (["run", "n", "true"], "'--' is missing before the command"),
    (["run", "n", "true", "--", "x"], "'--' is missing before the command"),
    (["run", "n", "--frob", "--", "true"], "unknown option '--frob'"),
    (["acquire"], "NAME is missing"),
    (["acquire", "a", "b"], "'b' is one argument too many"),
    (["acquire", ""], "NAME is empty"),
    (["acquire", "x" * 1025], "NAME has 1025 bytes"),
    (["acquire", "a\nb"], "not printable"),
    (["acquire", "a\x1b[31m"], "not printable"),
    (["acquire", "a\x7f"], "not printable"),
    (["acquire", b"a\xff"], "not printable"),
    (["acquire", b"\xc0\xaf"], "not printable"),
    (["acquire", b"\xe2\x82"], "not printable"),
    (["acquire", b"\xed\xa0\x80"], "not printable"),
    (["acquire", "a\x85b"], "not printable"),
    (["acquire", "a\u2028b"], "not printable"),
    (["acquire", "--ttl", "10", "n"], "--ttl: \"10\" has no unit"),
    (["acquire", "--ttl", "", "n"], "--ttl: "),
    (["acquire", "--ttl", "-1s", "n"], "--ttl: "),
    (["acquire", "--ttl", "1.5s", "n"], "--ttl: "),
    (["acquire", "--ttl", "10 s", "n"], "--ttl: "),
    (["acquire", "--ttl", "99999999h", "n"], "--ttl: "),
    (["acquire", "--ttl", "0s", "n"], "ttl"),
    (["acquire", "--ttl", "31s", "n"], "--ttl: 31s is longer than --max-ttl 30s"),
    (["--max-ttl", "5s", "acquire", "n"], "--ttl: 10s is longer than --max-ttl 5s"),
    (["--max-ttl", "x", "acquire", "n"], "--max-ttl: "),
    (["acquire", "--ttl"], "--ttl: the value is missing"),
    (["acquire", "--wait", "soon", "n"], "--wait: "),
    (["acquire", "--wait", "1s", "--try", "n"], "--try and --wait exclude each other"),
    (["acquire", "--max-hold", "1s", "n"], "unknown option '--max-hold'"),
    (["run", "--max-hold", "x", "n", "--", "true"], "--max-hold: "),
    (["run", "--max-hold", "1ms", "n", "--", "true"], "--max-hold: 1ms is too short"),
    (["run", "--ttl", "99ms", "n", "--", "true"], "--ttl: 99ms is too short"),
    (["run", "--grace", "x", "n", "--", "true"], "--grace: "),
    (["run", "--grace", "6s", "n", "--", "true"], "--grace: 6s is too long"),
    (["run", "--conflict-exit-code", "256", "n", "--", "true"], "--conflict-exit-code: '256'"),
    (["run", "--conflict-exit-code", "-1", "n", "--", "true"], "--conflict-exit-code: '-1'"),
    (["run", "--conflict-exit-code", "1x", "n", "--", "true"], "--conflict-exit-code: '1x'"),
    (["run", "--conflict-exit-code", "", "n", "--", "true"], "--conflict-exit-code: ''"),
    (["extend", "n"], "TOKEN is missing"),
    (["extend", "n", "short"], "TOKEN: "),
    (["extend", "n", "g" * 32], "TOKEN: "),
    (["extend", "--ttl", "1", "n", TOKEN], "--ttl: "),
    (["extend", "--ttl", "31s", "n", TOKEN], "--ttl: 31s is longer than --max-ttl 30s"),
    (["release", "n"], "TOKEN is missing"),
    (["release", "n", TOKEN, "x"], "'x' is one argument too many"),
    (["release", "--ttl", "1s", "n", TOKEN], "unknown option '--ttl'"),
    (["release", "n", TOKEN + "0"], "TOKEN: "),
    (["break"], "NAME is missing"),
    (["break", "n"], "there is no terminal to ask on; write --yes"),
    (["break", "--yes", "a", "b"], "'b' is one argument too many"),
    (["break", "--yes", "a\nb"], "not printable"),
    (["break", "--force", "n"], "unknown option '--force'"),
    (["completion"], "SHELL is missing"),
    (["completion", "csh"], "'csh' is no shell that is known; write bash, zsh or fish"),
    (["completion", "bash", "zsh"], "'zsh' is one argument too many"),
    (["config", "x"], "'x' is one argument too many"),
    (["--config", "/nonexistent", "inspect", "n"], "--config: cannot read '/nonexistent': No such file"),
    (["--config", "/", "inspect", "n"], "--config: cannot read '/': it is a directory; name a file"),
    (["--config", "", "inspect", "n"], "--config: the name of the file is empty"),
    (["--config"], "--config: the value is missing"),
    (["--connect-timeout", "0s", "inspect", "n"], "--connect-timeout is 0s; the least is 1ms"),
    (["--connect-timeout", "x", "inspect", "n"], "--connect-timeout: "),
    (["--node-timeout", "0s", "inspect", "n"], "--node-timeout is 0s; the least is 1ms"),
    (["--max-ttl", "0s", "inspect", "n"], "--max-ttl is 0s; the least is 1ms"),
    (["-v", "-q", "inspect", "n"], "-v and -q exclude each other"),
    (["--color", "blue", "inspect", "n"], "--color: 'blue'"),
    (["--password-file", "/nonexistent/file", "inspect", "n"], "--password-file: cannot read '/nonexistent/file'"),
    (["--password-file", "/", "inspect", "n"], "--password-file: cannot read '/'"),
    (["--password-file", "/dev/null", "inspect", "n"], "--password-file: cannot read '/dev/null'"),
    (["--nodes", "", "inspect", "n"], "--nodes: URL 1 of the list is empty"),
    (["--nodes", "redis://a,,redis://b", "inspect", "n"], "--nodes: URL 2 of the list is empty"),
    (["--nodes", "redis://a,", "inspect", "n"], "--nodes: URL 2 of the list is empty"),
    (["--nodes", "http://a", "inspect", "n"], "--nodes: "),
    (["--nodes", "127.0.0.1:6379", "inspect", "n"], "--nodes: "),
    (["--nodes", "redis://a:0", "inspect", "n"], "--nodes: "),
    (["--nodes", "redis://a:99999", "inspect", "n"], "--nodes: "),
    (["--nodes", "redis://a,redis://a:6379", "inspect", "n"], "same server"),
    (["--nodes", ",".join(f"redis://h{i}" for i in range(16)), "inspect", "n"], "16 nodes"),
]


def redlock(words, **env):
    return subprocess.run([PROGRAM, *words], env=environment(**env), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False)


class Usage(unittest.TestCase):
    def test_each_mistake_is_one_line_and_64(self):
        for words, part in MISTAKES:
            for json_wanted in (False, True):
                with self.subTest(words=words, json=json_wanted):
                    line = (["--json"] if json_wanted else []) + words
                    result = redlock(line, REDLOCK_NODES="redis://127.0.0.1:1")
                    self.assertEqual(result.returncode, 64, result.stderr)
                    error = result.stderr.decode()  # fails if a raw byte of the input came through
                    self.assertEqual(error.count("\n"), 1, error)
                    self.assertTrue(error.startswith("redlock: "), error)
                    self.assertTrue(error[:-1].isprintable(), error)
                    self.assertIn(part, error)
                    if "--json" in line:
                        shown = json.loads(result.stdout)["error"]
                        self.assertEqual(shown["code"], "invalid")
                        self.assertEqual(f"redlock: {shown['message']}\n", error)
                        self.assertEqual(shown["nodes"], [])
                    else:
                        self.assertEqual(result.stdout, b"")

    def test_no_nodes(self):
        for env in ({}, {"REDLOCK_NODES": ""}):
            result = redlock(["inspect", "n"], **env)
            self.assertEqual(result.returncode, 64)
            self.assertIn(b"no nodes: write --nodes", result.stderr)

    def test_wrong_environment_is_named(self):
        result = redlock(["inspect", "n"], REDLOCK_NODES="nonsense")
        self.assertEqual(result.returncode, 64)
        self.assertIn(b"REDLOCK_NODES: ", result.stderr)

    def test_json_of_the_command_is_not_ours(self):
        result = redlock(["run", "n", "x", "--", "--json"])
        self.assertEqual((result.returncode, result.stdout), (64, b""))

    def test_passwords_are_never_repeated(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("pa55\n")
            file.flush()
            for words in (
                ["--nodes", "redis://:pa55@h:0", "inspect", "n"],
                ["--nodes", "redis://u:pa55@h,redis://u:pa55@h", "inspect", "n"],
                ["--nodes", "redis://u:pa55@h:x,redis://u:pa55@[::", "inspect", "n"],
                ["--nodes", "redis://u:pa55@[::", "inspect", "n"],
                ["redis://u:pa55@h", "inspect", "n"],
                ["inspect", "--redis://u:pa55@h", "n"],
                ["acquire", "n", "redis://u:pa55@h"],
                ["run", "n", "redis://u:pa55@h"],
                ["acquire", "--ttl", "redis://u:pa55@h", "n"],
                ["--password-file", file.name, "acquire", "--ttl", "x", "n"],
            ):
                for json_wanted in ([], ["--json"]):
                    with self.subTest(words=words):
                        result = redlock(json_wanted + words, REDLOCK_PASSWORD="pa55",
                                         REDLOCK_NODES="redis://127.0.0.1:1")
                        self.assertEqual(result.returncode, 64)
                        self.assertNotIn(b"pa55", result.stdout + result.stderr)


class Help(unittest.TestCase):
    def test_help_is_asked_for_and_exits_0(self):
        for words in (["--help"], ["-h"], ["run", "--help"], ["run", "-h"], ["acquire", "--help"],
                      ["extend", "--help"], ["release", "--help"], ["inspect", "--help"], ["break", "--help"],
                      ["config", "--help"], ["completion", "--help"], ["init", "--help"], ["status", "--help"],
                      ["doctor", "--help"],
                      ["run", "--help", "--", "true"], ["--json", "--help"]):
            with self.subTest(words=words):
                result = redlock(words)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                text = result.stdout.decode()
                self.assertIn("usage: redlock", text)
                self.assertLessEqual(max(map(len, text.splitlines())), 110)
                if words[0][0] != "-":
                    self.assertIn(f"usage: redlock {words[0]}", text)

    def test_help_of_the_command_is_the_commands(self):
        result = redlock(["run", "n", "x", "--", "--help"])
        self.assertEqual(result.returncode, 64)

    def test_version(self):
        result = redlock(["--version"])
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, rb"^redlock \d+\.\d+\.\d+\n$")

    def test_every_option_that_help_names_exists(self):
        for command in ("run", "acquire", "extend", "break"):
            text = redlock([command, "--help"]).stdout.decode()
            options = [line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  --") or line.startswith("  -y")]
            self.assertIn("--wait" if command in ("run", "acquire") else "usage:", text)
            for option in options:
                with self.subTest(command=command, option=option):
                    error = redlock([*NODES, command, option]).stderr.decode()
                    self.assertNotIn("unknown option", error)

    def test_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([PROGRAM, "--help"], stdin=subprocess.DEVNULL, stdout=full,
                                    stderr=subprocess.PIPE, env=environment(), timeout=LIMIT, check=False)
        self.assertEqual(result.returncode, 70)
        self.assertIn(b"cannot write to standard output", result.stderr)


if __name__ == "__main__":
    main()
