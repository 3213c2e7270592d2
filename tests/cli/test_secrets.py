"""Passwords: not in the process list after the start, not in the environment of the command, not in any output."""

import subprocess

from support import LIMIT, ProgramTest, main

PASSWORD = "pa55word"


class Secrets(ProgramTest):
    options = ("--requirepass", PASSWORD)

    def command_line(self, process):
        with open(f"/proc/{process.pid}/cmdline", "rb") as file:
            return file.read().decode()

    def test_the_process_list_forgets(self):
        for user in (f":{PASSWORD}@", f"default:{PASSWORD}@"):
            for words in (["--nodes", self.cluster.urls(user)], ["--nodes=" + self.cluster.urls(user)]):
                with self.subTest(words=words):
                    name = self.name + words[0][:8] + user[0]  # a failure must not make the next one wait
                    process = self.start(*words, "run", name, "--", "sh", "-c", "echo on; exec cat",
                                         stdin=subprocess.PIPE)
                    self.assertEqual(process.stdout.readline(), "on\n")
                    line = self.command_line(process)
                    self.assertNotIn(PASSWORD, line)
                    self.assertIn("*" * len(PASSWORD), line)
                    self.assertIn(f"127.0.0.1:{self.cluster.nodes[0].port}", line)
                    out, err = process.communicate(timeout=LIMIT)
                    self.assertEqual((process.returncode, out, err), (0, "", ""))

    def test_the_words_of_the_command_are_left_alone(self):
        url = f"redis://:{PASSWORD}@h"
        result = self.redlock("--nodes", self.cluster.urls(f":{PASSWORD}@"), "run", self.name, "--", "echo", url)
        self.assertEqual(self.expect(result, 0).stdout, url + "\n")

    def seen(self, *words, **env):
        """The variables of ours that a command finds."""
        result = self.expect(self.redlock(*words, "run", self.name, "--", "env", env=self.env(**env)), 0)
        return dict(line.split("=", 1) for line in result.stdout.splitlines() if line.startswith("REDLOCK_"))

    def test_the_command_gets_no_password(self):
        plain, secret = self.cluster.urls(), self.cluster.urls(f":{PASSWORD}@")
        seen = self.seen(REDLOCK_PASSWORD=PASSWORD)
        self.assertEqual(set(seen) - {"REDLOCK_PROGRAM"}, {"REDLOCK_NAME", "REDLOCK_TOKEN", "REDLOCK_NODES"})
        self.assertEqual(seen["REDLOCK_NODES"], plain)
        self.assertEqual(seen["REDLOCK_NAME"], self.name)
        self.assertRegex(seen["REDLOCK_TOKEN"], r"^[0-9a-f]{32}$")
        self.assertNotIn("REDLOCK_NODES", self.seen(REDLOCK_NODES=secret))
        self.assertEqual(self.seen("--nodes", secret)["REDLOCK_NODES"], plain)

    def test_an_inherited_name_and_token_are_replaced(self):
        seen = self.seen(REDLOCK_PASSWORD=PASSWORD, REDLOCK_NAME="old", REDLOCK_TOKEN="old")
        self.assertEqual(seen["REDLOCK_NAME"], self.name)
        self.assertNotEqual(seen["REDLOCK_TOKEN"], "old")

    def test_a_fencing_token_is_given_where_it_was_asked_for(self):
        self.assertNotIn("REDLOCK_FENCE", self.seen(REDLOCK_PASSWORD=PASSWORD, REDLOCK_FENCE="5"))
        words = ("run", "--fence", self.name, "--", "sh", "-c", "echo $REDLOCK_FENCE")
        tokens = []
        for _ in range(3):
            result = self.expect(self.redlock(*words, env=self.env(REDLOCK_PASSWORD=PASSWORD)), 0)
            tokens.append(int(result.stdout))
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_no_output_holds_it(self):
        secret = self.cluster.urls(f":{PASSWORD}@")
        for words in (["-vv", "acquire", "--ttl", "1s", self.name], ["-vv", "--json", "acquire", "--try", self.name],
                      ["-vv", "inspect", self.name], ["-vv", "run", "--try", self.name, "--", "true"],
                      ["-vv", "run", "other", "--", "true"]):
            for options, env in ((["--nodes", secret], {}), ([], {"REDLOCK_PASSWORD": PASSWORD})):
                with self.subTest(words=words):
                    result = self.redlock(*options, *words, env=self.env(**env))
                    self.assertIn("connected", result.stderr)
                    self.assertNotIn(PASSWORD, result.stdout + result.stderr)


if __name__ == "__main__":
    main()
