"""acquire, extend, release and inspect: exit codes, what they print, the shapes of --json."""

import json
import os
import signal
import subprocess
import time

from support import LIMIT, PATIENT, PROGRAM, ProgramTest, environment, eventually, free_port, main

STRANGER = "0" * 31 + "1"


class Commands(ProgramTest):
    def test_acquire_prints_the_token_alone(self):
        result = self.expect(self.redlock("acquire", self.name), 0)
        self.assertRegex(result.stdout, r"^[0-9a-f]{32}\n$")
        self.assertEqual(result.stderr, "")
        owners = self.cluster.owners(self.name)
        self.assertGreaterEqual(owners.count(result.stdout.strip()), 3)

    def test_a_fencing_token_stands_behind_the_token(self):
        tokens = []
        for words in (["--fence"], ["--fence", "--json"], ["--fence"]):
            result = self.expect(self.redlock("acquire", *words, self.name), 0)
            if "--json" in words:
                shown = json.loads(result.stdout)
                token, fence = shown["token"], shown["fencing_token"]
            else:
                self.assertRegex(result.stdout, r"^[0-9a-f]{32} [1-9][0-9]*\n$")
                token, fence = result.stdout.split()
            tokens.append(int(fence))
            self.expect(self.redlock("release", self.name, token), 0)
        self.assertEqual(tokens, sorted(set(tokens)))
        plain = self.expect(self.redlock("--json", "acquire", self.name), 0)
        self.assertNotIn("fencing_token", json.loads(plain.stdout))

    def test_the_lock_outlives_acquire_for_its_ttl(self):
        token = self.take(self.name, "20s")
        node = next(n for n in self.cluster.nodes if n.command("GET", "lock:" + self.name) == token)
        left = node.command("PTTL", "lock:" + self.name)
        self.assertTrue(0 < left <= 20000, left)

    def test_whole_round(self):
        token = self.take(self.name)
        self.expect(self.redlock("extend", "--ttl", "20s", self.name, token), 0)
        self.expect(self.redlock("release", self.name, token), 0)
        self.assert_free(self.name)
        self.expect(self.redlock("release", self.name, token), 1, "not held by this token any more")
        self.expect(self.redlock("extend", self.name, token), 76, self.name)
        self.expect(self.redlock("-q", "release", self.name, token), 1)

    def test_only_the_owner_extends_and_releases(self):
        token = self.take(self.name)
        self.expect(self.redlock("extend", self.name, STRANGER), 76, self.name)
        self.expect(self.redlock("release", self.name, STRANGER), 1)
        self.assertGreaterEqual(self.cluster.owners(self.name).count(token), 3)

    def test_extend_never_shortens(self):
        token = self.take(self.name, "30s")
        self.expect(self.redlock("extend", "--ttl", "1s", self.name, token), 0)
        lives = [node.command("PTTL", "lock:" + self.name) for node in self.cluster.nodes]
        self.assertGreaterEqual(sum(life > 1000 for life in lives), 3, lives)

    def test_held_by_somebody_else(self):
        self.take(self.name)
        self.expect(self.redlock(*PATIENT, "acquire", "--try", self.name), 75, "held by somebody else")
        self.expect(self.redlock(*PATIENT, "acquire", "--wait", "0s", self.name), 75, "held by somebody else")
        start = time.monotonic()
        self.expect(self.redlock("acquire", "--wait", "3s", self.name), 75, "held by somebody else")
        self.assertGreaterEqual(time.monotonic() - start, 3)

    def test_waits_until_it_is_free(self):
        token = self.take(self.name)
        waiter = self.start("acquire", self.name)
        self.assertRaises(subprocess.TimeoutExpired, waiter.wait, 0.3)
        self.expect(self.redlock("release", self.name, token), 0)
        out, err = waiter.communicate(timeout=LIMIT)
        self.assertEqual((waiter.returncode, err), (0, ""))
        self.assertNotEqual(out.strip(), token)

    def test_interrupted_while_waiting(self):
        token = self.take(self.name)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            with self.subTest(signal=number):
                waiter = self.start("acquire", self.name)
                self.wait_for_signals_taken(waiter)
                waiter.send_signal(number)
                out, err = waiter.communicate(timeout=LIMIT)
                self.assertEqual((waiter.returncode, out), (128 + number, ""), err)
                self.assertIn(number.name, err)
        self.expect(self.redlock("release", self.name, token), 0)
        self.assert_free(self.name)

    def wait_for_signals_taken(self, process):
        """Until the program reads its signals itself; before, any of them simply ends it."""
        def blocked():
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
                mask = next(line for line in status if line.startswith("SigBlk:"))
            return int(mask.split()[1], 16) >> (signal.SIGTERM - 1) & 1
        eventually(blocked, "signals are taken")

    def test_ignored_signals_stay_ignored(self):
        self.take(self.name)
        waiter = self.start("acquire", "--wait", "3s", self.name,
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_signals_taken(waiter)
        waiter.send_signal(signal.SIGHUP)
        waiter.communicate(timeout=LIMIT)
        self.assertEqual(waiter.returncode, 75)

    def test_token_that_cannot_be_printed_is_given_back(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "acquire", self.name], stdin=subprocess.DEVNULL, stdout=full,
                                    stderr=subprocess.PIPE, text=True, env=self.env(), timeout=LIMIT, check=False)
        self.expect(result, 70, "cannot write to standard output")
        self.assert_free(self.name)

    def test_closed_standard_output_is_noticed(self):
        result = subprocess.run([PROGRAM, "acquire", self.name], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, env=self.env(), timeout=LIMIT, check=False,
                                preexec_fn=lambda: os.close(1))
        self.expect(result, 70, "cannot write to standard output")
        self.assert_free(self.name)

    def test_broken_pipe_is_an_error_and_no_signal(self):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            result = subprocess.run([PROGRAM, "acquire", self.name], stdin=subprocess.DEVNULL, stdout=pipe,
                                    stderr=subprocess.PIPE, text=True, env=self.env(), timeout=LIMIT, check=False)
        self.expect(result, 70, "cannot write to standard output")
        self.assert_free(self.name)

    def test_prefix(self):
        self.expect(self.redlock("--prefix", "p:", "acquire", self.name), 0)
        self.assertTrue(any(node.command("GET", "p:" + self.name) for node in self.cluster.nodes))
        self.assertEqual(self.cluster.owners(self.name), [None] * 5)

    def test_options_after_the_command_and_names_that_begin_with_a_dash(self):
        result = self.redlock("acquire", "--nodes", self.cluster.urls(), "--json", "--", "-name", env=environment())
        self.assertEqual(json.loads(self.expect(result, 0).stdout)["name"], "-name")

    def test_names_in_utf8(self):
        token = self.take("lager/größe 42")
        self.assertIn("lager/größe 42\n", self.redlock("inspect", "lager/größe 42").stdout)
        self.expect(self.redlock("release", "lager/größe 42", token), 0)

    def test_the_later_of_two_options_counts(self):
        self.expect(self.redlock("acquire", "--ttl", "nonsense", "--ttl", "5s", self.name), 0)

    def test_even_number_of_nodes_warns(self):
        nodes = ",".join(node.url() for node in self.cluster.nodes[:4])
        result = self.expect(self.redlock("--nodes", nodes, "inspect", self.name), 0)
        self.assertIn("odd", result.stderr)
        self.assertEqual(self.redlock("-q", "--nodes", nodes, "inspect", self.name).stderr, "")

    def test_one_node(self):
        node = self.cluster.nodes[0].url()
        result = self.expect(self.redlock("--no-guard", "--nodes", node, *PATIENT, "acquire", "--try", self.name), 0)
        self.assertEqual(result.stderr, "")
        self.expect(self.redlock("--nodes", node, "release", self.name, result.stdout.strip()), 0)

    def test_verbose_logs_on_standard_error_only(self):
        result = self.expect(self.redlock("-v", "acquire", self.name), 0)
        self.assertRegex(result.stdout, r"^[0-9a-f]{32}\n$")
        self.assertIn("connected", result.stderr)
        self.assertNotIn("\033", result.stderr)
        colored = self.redlock("-v", "--color", "always", "inspect", self.name)
        self.assertIn("\033[", colored.stderr)
        self.assertIn("\033[", colored.stdout)


class Json(ProgramTest):
    def assert_reports(self, nodes):
        self.assertEqual([node["node"] for node in nodes], [f"127.0.0.1:{n.port}" for n in self.cluster.nodes])
        for node in nodes:
            self.assertEqual(list(node), ["node", "vote", "ms", "error"])
            self.assertIn(node["vote"], ("granted", "refused", "unknown", "pending"))
            self.assertIsInstance(node["ms"], float)

    def lines(self, result, code):
        self.expect(result, code)
        self.assertEqual(result.stdout.count("\n"), 1)
        return json.loads(result.stdout)

    def test_acquire_extend_release(self):
        taken = self.lines(self.redlock("--json", "acquire", self.name), 0)
        self.assertEqual(list(taken), ["name", "token", "validity_ms", "nodes"])
        self.assertEqual(taken["name"], self.name)
        self.assertTrue(0 < taken["validity_ms"] < 10000)
        self.assert_reports(taken["nodes"])
        self.assertGreaterEqual(sum(n["vote"] == "granted" and n["error"] is None for n in taken["nodes"]), 3)

        extended = self.lines(self.redlock("--json", "extend", "--ttl", "20s", self.name, taken["token"]), 0)
        self.assertEqual(list(extended), ["name", "token", "validity_ms", "nodes"])
        self.assertTrue(10000 < extended["validity_ms"] < 20000)
        self.assert_reports(extended["nodes"])

        released = self.lines(self.redlock("--json", "release", self.name, taken["token"]), 0)
        self.assertEqual(list(released), ["name", "token", "result", "nodes"])
        self.assertEqual(released["result"], "released")
        self.assert_reports(released["nodes"])
        gone = self.lines(self.redlock("--json", "release", self.name, taken["token"]), 1)
        self.assertEqual(gone["result"], "already_gone")

    def test_errors(self):
        token = self.take(self.name)
        error = self.expect_json_error(self.redlock("--json", *PATIENT, "acquire", "--try", self.name), 75, "contended")
        self.assert_reports(error["nodes"])
        self.assertGreaterEqual(sum(n["error"] == "held" for n in error["nodes"]), 3)
        self.assertNotIn(token, error["message"])
        error = self.expect_json_error(self.redlock("--json", *PATIENT, "run", "--try", self.name, "--", "true"), 75,
                                       "contended")
        self.expect_json_error(self.redlock("--json", "extend", self.name, STRANGER), 76, "lost")

    def test_interrupted(self):
        self.take(self.name)
        waiter = self.start("--json", "acquire", self.name)
        Commands.wait_for_signals_taken(self, waiter)
        waiter.terminate()
        out, err = waiter.communicate(timeout=LIMIT)
        self.expect_json_error(subprocess.CompletedProcess([], waiter.returncode, out, err), 143, "cancelled")

    def test_inspect(self):
        token = self.take(self.name)
        locks = self.lines(self.redlock("--json", "inspect", self.name, "other"), 0)["locks"]
        held, free = locks
        fields = ["name", "verdict", "owner", "time_left_ms", "nodes", "faults"]
        self.assertEqual([list(held), list(free)], [fields, fields])
        self.assertEqual((held["name"], held["verdict"], held["owner"]), (self.name, "held", token))
        self.assertTrue(0 < held["time_left_ms"] <= 30000)
        self.assertEqual((free["name"], free["verdict"], free["owner"], free["time_left_ms"], free["faults"]),
                         ("other", "free", None, None, []))
        for node in held["nodes"] + free["nodes"]:
            self.assertEqual(list(node), ["node", "state", "owner", "type", "time_left_ms", "ms", "error"])
        self.assertGreaterEqual(sum(n["state"] == "held" for n in held["nodes"]), 3)


class Inspect(ProgramTest):
    def set(self, index, *words):
        self.cluster.nodes[index].command(*words)

    def test_free_and_held(self):
        result = self.expect(self.redlock("inspect", self.name), 0)
        self.assertIn("free: 5 of 5 nodes", result.stdout)
        token = self.take(self.name)
        result = self.expect(self.redlock("inspect", self.name), 0)
        self.assertIn(f"held by {token}", result.stdout)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], self.name)
        self.assertEqual(lines[1].split(), ["NODE", "STATE", "OWNER", "TIME", "LEFT"])
        column = lines[1].index("STATE")
        for node, line in zip(self.cluster.nodes, lines[2:7]):
            self.assertTrue(line.startswith(f"  127.0.0.1:{node.port} "), line)
            self.assertIn(line[column:].split()[0], ("held", "free"))

    def test_no_expiry_is_a_fault(self):
        self.set(0, "SET", "lock:" + self.name, "x")
        result = self.expect(self.redlock("inspect", self.name), 65)
        self.assertIn("fault:", result.stdout)
        self.assertIn("never expires", result.stdout)

    def test_strange_type_is_a_fault(self):
        self.set(1, "LPUSH", "lock:" + self.name, "x")
        result = self.expect(self.redlock("inspect", self.name), 65)
        self.assertIn("fault:", result.stdout)
        self.assertIn("(list)", result.stdout)
        lock = json.loads(self.redlock("--json", "inspect", self.name).stdout)["locks"][0]
        self.assertEqual((lock["nodes"][1]["state"], lock["nodes"][1]["type"]), ("wrong_type", "list"))
        self.assertEqual(len(lock["faults"]), 1)

    def test_split_votes_are_a_fault(self):
        for index, owner in enumerate("aabbc"):
            self.set(index, "SET", "lock:" + self.name, owner, "PX", 60000)
        result = self.expect(self.redlock("inspect", self.name), 65)
        self.assertIn("split", result.stdout)

    def test_owners_of_any_bytes_are_shown_printable(self):
        for index in range(5):
            self.set(index, "SET", "lock:" + self.name, b"\x1b[2J\xff\n" + b"z" * 100, "PX", 60000)
        result = self.expect(self.redlock("inspect", self.name), 0)
        self.assertIn(r"\x1b[2J\xff\x0a", result.stdout)
        self.assertTrue(all(line.isprintable() for line in result.stdout.splitlines()))
        lock = json.loads(self.redlock("--json", "inspect", self.name).stdout)["locks"][0]
        self.assertTrue(lock["owner"].startswith(r"\x1b[2J\xff\x0azz"))

    def test_worst_of_several_names(self):
        self.set(0, "SET", "lock:" + self.name, "x")
        self.expect(self.redlock("inspect", "fine", self.name, "fine too"), 65)


class NoQuorum(ProgramTest):
    def nodes(self, alive):
        """URLs of `alive` running masters and of ports where nobody listens, five together."""
        dead = [f"redis://127.0.0.1:{free_port()}" for _ in range(5 - alive)]
        return ",".join([node.url() for node in self.cluster.nodes[:alive]] + dead)

    def test_minority_down_is_no_trouble(self):
        env = self.env(REDLOCK_NODES=self.nodes(3))
        token = self.expect(self.redlock("acquire", self.name, env=env), 0).stdout.strip()
        self.expect(self.redlock("extend", self.name, token, env=env), 0)
        self.expect(self.redlock("inspect", self.name, env=env), 0)
        self.expect(self.redlock("run", "other", "--", "true", env=env), 0)
        self.expect(self.redlock("release", self.name, token, env=env), 0)

    def test_majority_down(self):
        env = self.env(REDLOCK_NODES=self.nodes(2))
        for words in (["acquire", "--try", self.name], ["acquire", "--wait", "200ms", self.name],
                      ["run", "--try", self.name, "--", "true"], ["extend", self.name, STRANGER],
                      ["release", self.name, STRANGER]):
            with self.subTest(words=words):
                self.expect(self.redlock(*words, env=env), 69, self.name)
                self.expect_json_error(self.redlock("--json", *words, env=env), 69, "no_quorum")
        result = self.expect(self.redlock("inspect", self.name, env=env), 69)
        self.assertIn("uncertain: only 2 of 5 nodes answered", result.stdout)
        self.assert_free(self.name)

    def test_majority_hung(self):
        for node in self.cluster.nodes[:3]:
            node.pause()
            self.addCleanup(node.resume)
        self.expect(self.redlock("acquire", "--try", self.name), 69, self.name)
        self.expect(self.redlock("run", "--try", self.name, "--", "true"), 69, self.name)
        self.expect(self.redlock("inspect", self.name), 69)

    def test_interrupted_while_nobody_answers(self):
        waiter = self.start("acquire", self.name, env=self.env(REDLOCK_NODES=self.nodes(0)))
        Commands.wait_for_signals_taken(self, waiter)
        waiter.send_signal(signal.SIGINT)
        waiter.communicate(timeout=LIMIT)
        self.assertEqual(waiter.returncode, 130)


class Denied(ProgramTest):
    options = ("--requirepass", "geheim")

    def test_without_password(self):
        for words in ([*PATIENT, "acquire", "--try", "n"], [*PATIENT, "run", "--try", "n", "--", "true"], ["extend", "n", STRANGER],
                      ["release", "n", STRANGER]):
            for env in (self.env(), self.env(REDLOCK_PASSWORD="falsch")):
                with self.subTest(words=words):
                    result = self.expect(self.redlock(*words, env=env), 77, "'n': ")
                    self.assertNotIn("falsch", result.stderr)
                    self.expect_json_error(self.redlock("--json", *words, env=env), 77, "denied")
        self.expect(self.redlock("inspect", "n"), 77)

    def test_with_password(self):
        with open(self.path("password"), "w", encoding="utf-8") as file:
            file.write("geheim\r\nsecond line\n")
        token = self.expect(self.redlock("acquire", "n", env=self.env(REDLOCK_PASSWORD="geheim")), 0).stdout.strip()
        # The file is the more special of the two.
        self.expect(self.redlock("--password-file", self.path("password"), "extend", "n", token,
                                 env=self.env(REDLOCK_PASSWORD="falsch")), 0)
        self.expect(self.redlock("--nodes", self.cluster.urls(":geheim@"), "release", "n", token), 0)


if __name__ == "__main__":
    main()
