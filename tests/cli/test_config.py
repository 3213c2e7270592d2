"""The settings file: where it is looked for, what counts more, what is wrong with one, and `redlock config`."""

import json
import os
import random
import subprocess

from support import LIMIT, PROGRAM, ProgramTest, environment, main

PASSWORD = "pa55word"


class Config(ProgramTest):
    count = 3

    def write(self, text, name="redlock.conf", mode=0o600):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(path, mode)
        return path

    def nodes(self):
        return f"nodes = {self.cluster.urls()}\n"

    def settings(self, *words, **env):
        """What `redlock config` shows, by name, and the file."""
        result = self.expect(self.redlock("--json", *words, "config", env=environment(**env)), 0)
        config = json.loads(result.stdout)["config"]
        return config["file"], {setting["name"]: setting for setting in config["settings"]}

    def test_a_lock_by_the_file_alone(self):
        path = self.write(self.nodes() + "prefix = mine:\nttl = 20s\n")
        for words, env in ((["--config", path], {}), ([], {"REDLOCK_CONFIG": path})):
            with self.subTest(words=words):
                name = self.name + str(len(words))
                result = self.redlock(*words, "--json", "acquire", name, env=environment(**env))
                self.assertGreater(json.loads(self.expect(result, 0).stdout)["validity_ms"], 10000)
                self.assertTrue(any(node.command("GET", "mine:" + name) for node in self.cluster.nodes))

    def test_the_usual_places(self):
        home = self.write("ttl = 1s\n", "home/.config/redlock/redlock.conf")
        xdg = self.write("ttl = 2s\n", "xdg/redlock/redlock.conf")
        named = self.write("ttl = 3s\n", "named.conf")
        said = self.write("ttl = 4s\n", "said.conf")
        env = {"HOME": self.path("home"), "XDG_CONFIG_HOME": ""}
        self.assertEqual(self.settings(**env)[0], home)
        env["XDG_CONFIG_HOME"] = self.path("xdg")
        self.assertEqual(self.settings(**env)[0], xdg)
        env["REDLOCK_CONFIG"] = named
        self.assertEqual(self.settings(**env)[0], named)
        file, settings = self.settings("--config", said, **env)
        self.assertEqual((file, settings["ttl"]["value"], settings["ttl"]["where"]), (said, "4s", said + ":1"))
        # A place that cannot even be looked at is none.
        self.assertNotIn(home, str(self.settings(HOME="/proc/self/nowhere", XDG_CONFIG_HOME="")[0]))
        file, settings = self.settings("--config", "/dev/null", **env)
        self.assertEqual((file, settings["ttl"]["source"]), ("/dev/null", "default"))

    def test_command_line_over_environment_over_file(self):
        path = self.write("nodes = redis://file\nprefix = file:\nmax-ttl = 50s\n")
        _, found = self.settings("--config", path, "--prefix", "line:", REDLOCK_NODES="redis://environment")
        shown = {name: (found[name]["value"], found[name]["source"]) for name in
                 ("nodes", "prefix", "max-ttl", "connect-timeout")}
        self.assertEqual(shown, {"nodes": ("redis://environment", "environment"), "prefix": ("line:", "command_line"),
                                 "max-ttl": ("50s", "file"), "connect-timeout": ("1s", "default")})
        _, found = self.settings("--config", path, "--nodes", "redis://line", REDLOCK_NODES="redis://environment")
        self.assertEqual(found["nodes"]["value"], "redis://line")

    def test_every_setting(self):
        self.write("secret\n", "pw")
        for name in ("ca", "cert", "key"):
            self.write("x", name)
        path = self.write("nodes = rediss://a,redis://b,redis://c\npassword-file = pw\ntls-ca = ca\ntls-cert = cert\n"
                          "tls-key = key\ntls-server-name = n\ntls-no-verify = false\nprefix = p\nttl = 11s\n"
                          "max-ttl = 12s\ndeployment = d\nguard-grace = 9s\nno-guard = false\nno-line = true\nconnect-timeout = 2s\nnode-timeout = 60ms\ncolor = never\n")
        _, found = self.settings("--config", path)
        self.assertEqual({s["source"] for n, s in found.items() if n != "password"}, {"file"})
        # Beside the file, wherever we are.
        self.assertEqual(found["password-file"]["value"], self.path("pw"))
        self.assertEqual(found["tls-ca"]["value"], self.path("ca"))

    def test_mistakes(self):
        big = b"# " + b"x" * 70000
        for text, part in (
            ("ttl = 10\n", ":1: ttl: \"10\" has no unit"),
            ("\n\nmax-ttl = x\n", ":3: max-ttl: "),
            ("connect-timeout = -1s\n", ":1: connect-timeout: "),
            ("node-timeout = 0s\n", "--node-timeout is 0s; the least is 1ms"),
            ("ttl = 40s\n", ":1: ttl: 40s is longer than --max-ttl 30s"),
            ("max-ttl = 5s\n", "--ttl: 10s is longer than {path}:1: max-ttl 5s"),
            ("guard-grace = 3\n", ":1: guard-grace: \"3\" has no unit"),
            ("no-guard = yes\n", ":1: no-guard: 'yes' is neither true nor false"),
            ("no-line = 1\n", ":1: no-line: '1' is neither true nor false"),
            ("color = blue\n", ":1: color: 'blue' is none of auto, always, never"),
            ("tls-no-verify = yes\n", ":1: tls-no-verify: 'yes' is neither true nor false"),
            ("nodes = http://a\n", ":1: nodes: "),
            ("nodes = redis://a,,redis://b\n", ":1: nodes: URL 2 of the list is empty"),
            ("nodes = redis://a\ntls-ca = /dev/null\n", "write rediss:// for the nodes that speak TLS"),
            ("node = redis://a\n", ":1: there is no setting 'node'; write nodes = ..."),
            ("ttl = 1s\nttl = 1s\n", ":2: ttl was set on line 1 already"),
            ("password-file = nowhere\n", ":1: password-file: cannot read '{folder}/nowhere'"),
            (b"\x7fELF\x02\x01\x01\0\0", ":1: byte 1 is not printable UTF-8"),
            (big, "cannot read '{path}': it is longer than 64 KiB"),
        ):
            path = self.write(text)
            # What the file says wrongly about nodes would not be seen with others.
            env = environment() if "nodes" in str(text) else self.env()
            for json_wanted in (False, True):
                with self.subTest(text=text[:40], json=json_wanted):
                    words = ["--json"] if json_wanted else []
                    result = self.redlock("--config", path, *words, "acquire", "--try", "n", env=env)
                    self.expect(result, 64, part.format(path=path, folder=self.folder))
                    self.assertTrue(result.stderr[:-1].isprintable())
                    if json_wanted:
                        self.expect_json_error(result, 64, "invalid")

    def test_files_that_cannot_be_read(self):
        for path, part in ((self.path("nowhere"), "No such file"), (self.folder, "it is a directory"),
                           ("", "the name of the file is empty"), ("/dev/zero", "longer than 64 KiB")):
            with self.subTest(path=path):
                self.expect(self.redlock("--config", path, "inspect", "n"), 64, part)
        self.expect(self.redlock("inspect", "n", env=self.env(REDLOCK_CONFIG="/nowhere")), 64,
                    "REDLOCK_CONFIG: cannot read '/nowhere'")
        # What is there is used: one that is wrong is not passed over for the next.
        self.write("nonsense\n", "xdg/redlock/redlock.conf")
        env = self.env(XDG_CONFIG_HOME=self.path("xdg"))
        self.expect(self.redlock("inspect", "n", env=env), 64, "redlock.conf:1: no '='")
        self.expect(self.redlock("--config", "/dev/null", "inspect", "n", env=env), 0)
        os.remove(self.path("xdg/redlock/redlock.conf"))
        os.mkdir(self.path("xdg/redlock/redlock.conf"))
        self.expect(self.redlock("inspect", "n", env=env), 64, "it is a directory")

    def test_pipes_are_files_too(self):
        result = subprocess.run(["bash", "-c", f'"$0" --config <(printf "prefix = pipe:") config', PROGRAM],
                                env=environment(), stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        self.assertIn("pipe:", result.stdout)

    def test_random_bytes(self):
        chance = random.Random(11)
        refused = 0
        for _ in range(60):
            path = self.write(bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400))))
            result = self.redlock("--config", path, "config", env=environment())
            if result.returncode != 0:  # a comment, or blanks
                refused += 1
                self.expect(result, 64, "redlock.conf:")
        self.assertGreater(refused, 40)

    def test_a_password_that_everybody_can_read(self):
        text = f"nodes = redis://u:{PASSWORD}@h\n"
        for mode, warned in ((0o600, False), (0o640, False), (0o644, True)):
            with self.subTest(mode=oct(mode)):
                result = self.redlock("--config", self.write(text, mode=mode), "config", env=environment())
                self.expect(result, 0)
                self.assertEqual("everybody can read it; chmod o-r" in result.stderr, warned, result.stderr)
                self.assertNotIn(PASSWORD, result.stdout + result.stderr)
                self.assertIn("redis://u:***@h", result.stdout)
        public = self.write("nodes = redis://u@h\n", mode=0o644)
        self.assertEqual(self.redlock("--config", public, "config", env=environment(REDLOCK_PASSWORD="x")).stderr, "")

    def test_passwords_are_never_shown(self):
        for text in (f"nodes = redis://u:{PASSWORD}@h:x\n", f"redis://u:{PASSWORD}@h\n", f"password = {PASSWORD}\n",
                     f"redis://u:{PASSWORD}@h = x\n", f"color = redis://u:{PASSWORD}@h\n",
                     f"nodes = redis://u:{PASSWORD}@h\nttl = 1\n"):
            for words in (["config"], ["--json", "config"], ["-v", "inspect", "n"]):
                with self.subTest(text=text, words=words):
                    result = self.redlock("--config", self.write(text), *words, env=environment())
                    self.assertEqual(result.returncode, 64)
                    self.assertNotIn(PASSWORD, result.stdout + result.stderr)
        result = self.expect(self.redlock("--json", "config", env=environment(REDLOCK_PASSWORD=PASSWORD)), 0)
        self.assertNotIn(PASSWORD, result.stdout)
        password = json.loads(result.stdout)["config"]["settings"][-1]
        self.assertEqual((password["name"], password["value"], password["where"]),
                         ("password", "***", "REDLOCK_PASSWORD"))

    def test_verbose_names_the_file(self):
        path = self.write(self.nodes())
        result = self.expect(self.redlock("-v", "--config", path, "inspect", "n", env=environment()), 0)
        self.assertIn(f"settings from {path}", result.stderr)

    def test_config_needs_no_nodes_and_says_so(self):
        result = self.expect(self.redlock("config", env=environment()), 0)
        self.assertRegex(result.stdout, r"nodes +- +\(not set\)")
        self.assertRegex(result.stdout, r"ttl +10s +\(default\)")
        self.expect(self.redlock("config", "x", env=environment()), 64, "one argument too many")

    def test_tls_of_a_common_file_is_for_those_who_use_it(self):
        path = self.write("tls-ca = /nowhere.pem\n")
        self.expect(self.redlock("--config", path, "inspect", "n"), 0)
        nodes = ",".join(node.url().replace("redis:", "rediss:") for node in self.cluster.nodes)
        self.expect(self.redlock("--config", path, "--nodes", nodes, "inspect", "n"), 64, "/nowhere.pem")

    def test_the_example_is_right(self):
        docs = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
        with open(os.path.join(docs, "redlock.conf"), encoding="utf-8") as file:
            example = file.read()
        active = [line.lstrip("#") for line in example.splitlines() if line.startswith("#") and line[1:2].islower()]
        self.assertEqual(len(active), 16)
        _, found = self.settings("--config", self.write(example))
        self.assertEqual(found["nodes"]["source"], "file")
        # Each line that is commented out is one that the program would take.
        for line in active:
            with self.subTest(line=line):
                name = line.split("=")[0].strip()
                self.assertIn(name, found)
                if "/" not in line and not name.startswith("tls"):
                    self.assertEqual(self.settings("--config", self.write(line + "\n"))[1][name]["source"], "file")


if __name__ == "__main__":
    main()
