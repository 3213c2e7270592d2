"""redlock completion: the script is sourced by a real bash and asked; the others are read by their shells where there are any."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import LIMIT, PROGRAM, environment, main


def script(shell):
    return subprocess.run([PROGRAM, "completion", shell], env=environment(), stdout=subprocess.PIPE, text=True,
                          timeout=LIMIT, check=True).stdout


class Bash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="redlock-cli-")
        cls.path = os.path.join(cls.folder, "redlock.bash")
        with open(cls.path, "w", encoding="utf-8") as file:
            file.write(script("bash"))
        with open(os.path.join(cls.folder, "some.conf"), "w", encoding="utf-8"):
            pass

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def complete(self, *words):
        """What bash offers for the last of the words."""
        ask = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _redlock; printf "%s\\n" "${COMPREPLY[@]}"'
        result = subprocess.run(["bash", "--norc", "-uc", ask, "bash", self.path, "redlock", *words], cwd=self.folder,
                                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=LIMIT, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_commands(self):
        every = ["run", "acquire", "extend", "release", "inspect", "break", "status", "doctor", "init", "config",
                 "completion"]
        self.assertEqual(self.complete(""), every)
        self.assertEqual(self.complete("re"), ["release"])
        self.assertEqual(self.complete("--json", "--nodes", "redis://a", "ins"), ["inspect"])
        # Each is a command of the program.
        for command in every:
            self.assertEqual(subprocess.run([PROGRAM, command, "--help"], stdout=subprocess.DEVNULL, env=environment(),
                                            timeout=LIMIT, check=False).returncode, 0)

    def test_options_are_those_of_the_command(self):
        self.assertEqual(self.complete("--tls-"), ["--tls-ca", "--tls-cert", "--tls-key", "--tls-server-name",
                                                   "--tls-no-verify"])
        self.assertEqual(self.complete("run", "--gr"), ["--grace"])
        self.assertEqual(self.complete("acquire", "--gr"), [])
        self.assertEqual(self.complete("run", "--ttl", "3s", "--max-"), ["--max-ttl", "--max-hold"])
        self.assertEqual(self.complete("break", "name", "--no"), ["--nodes", "--node-timeout", "--no-guard", "--no-line", "--now"])
        self.assertEqual(self.complete("init", "--force"), ["--force", "--force-node"])
        self.assertEqual(self.complete("status", "--watch", "--js"), ["--json"])  # its value may be left out
        self.assertEqual(self.complete("acquire", "n"), [])

    def test_values(self):
        self.assertEqual(self.complete("--color", ""), ["auto", "always", "never"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("--config", "so"), ["some.conf"])
        self.assertEqual(self.complete("--ttl", ""), [])

    def test_the_command_of_run_is_a_command(self):
        self.assertIn("printf", self.complete("run", "n", "--", "print"))
        self.assertEqual(self.complete("run", "n", "--", "cat", "so"), ["some.conf"])
        self.assertEqual(self.complete("inspect", "--", "so"), [])

    def test_every_option_of_the_help_is_offered(self):
        for command in ("", "run", "acquire", "extend", "release", "inspect", "break", "status", "doctor", "init",
                        "config", "completion"):
            words = [command] if command else []
            text = subprocess.run([PROGRAM, *words, "--help"], env=environment(), stdout=subprocess.PIPE, text=True,
                                  timeout=LIMIT, check=True).stdout
            named = {option for line in text.splitlines() if re.match(r"  -", line)
                     for option in re.findall(r"--[a-z-]+", line.split("   ")[0])}
            self.assertEqual(named - set(self.complete(*words, "--")), set(), command)

    def test_bash_itself_calls_it(self):
        """Typed on a terminal, with a tab."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment(PS1="prompt> ", HISTFILE="/dev/null"))
        try:
            os.write(fd, f"source {self.path}\n".encode() + b"redlock acq\t-name --try --wa\t")
            seen = ""
            end = time.monotonic() + LIMIT
            while "redlock acquire -name --try --wait " not in seen:
                self.assertLess(time.monotonic(), end, seen)
                if select.select([fd], [], [], 0.1)[0]:
                    seen += os.read(fd, 65536).decode(errors="replace")
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(fd)


class Others(unittest.TestCase):
    def test_syntax(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                self.assertIn("--conflict-exit-code" if shell != "fish" else "conflict-exit-code", script(shell))
                if shutil.which(shell) is None:
                    continue
                result = subprocess.run([shell, "-n", "/dev/stdin"], input=script(shell), stderr=subprocess.PIPE,
                                        text=True, timeout=LIMIT, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipIf(shutil.which("fish") is None, "no fish here")
    def test_fish_completes(self):
        ask = f"{PROGRAM} completion fish | source; complete -C 'redlock br'; complete -C 'redlock run --gr'"
        with tempfile.TemporaryDirectory() as home:
            out = subprocess.run(["fish", "--no-config", "-c", ask], stdout=subprocess.PIPE, text=True, timeout=LIMIT,
                                 env=environment(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home), check=True).stdout
        self.assertEqual(out.split(), ["break", "--grace"])

    def test_no_other_shell(self):
        result = subprocess.run([PROGRAM, "completion", "csh"], env=environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        self.assertEqual((result.returncode, result.stdout), (64, ""))
        self.assertIn("'csh' is no shell that is known; write bash, zsh or fish", result.stderr)


if __name__ == "__main__":
    main()
