"""Masters behind a Sentinel, as the program names and shows them."""

import json
import os
import subprocess

from support import LIMIT, PATIENT, Cluster, Node, ProgramTest, eventually, free_port, main


class Sentinel(Node):
    """One redis-server that watches masters and is asked for their addresses; the first option is its password."""

    def __init__(self, folder, masters, password=""):
        self.masters = masters
        super().__init__(folder, *(["--requirepass", password] if password else []))

    def server_line(self):
        path = os.path.join(self.folder, f"{self.port}.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"port {self.port}\nbind 127.0.0.1\ndir {self.folder}\n")
            file.write(f"logfile {self.folder}/{self.port}.log\n")
            for option, value in zip(self.options[::2], self.options[1::2]):
                file.write(f"{option[2:]} {value}\n")
            for name, master in self.masters.items():
                file.write(f"sentinel monitor {name} 127.0.0.1 {master.port} 1\n")
        return ["redis-server", path, "--sentinel"]


class BehindSentinel(ProgramTest):
    count = 3

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.count)
        cls.cluster.init()
        masters = {f"m{i}": node for i, node in enumerate(cls.cluster.nodes)}
        cls.open = Sentinel(cls.cluster.folder, masters)
        cls.locked = Sentinel(cls.cluster.folder, masters, "s3cret")

    @classmethod
    def tearDownClass(cls):
        cls.open.kill()
        cls.locked.kill()
        cls.cluster.close()

    def urls(self, sentinel, query=""):
        """Two masters behind it, with one dead Sentinel more, and one by its address."""
        hosts = f"127.0.0.1:{sentinel.port},127.0.0.1:{free_port()}"
        return (f"redis+sentinel://{hosts}/m0{query}, redis+sentinel://{hosts}/m1{query},"
                f"{self.cluster.nodes[2].url()}")

    def test_commands(self):
        env = self.env(REDLOCK_NODES=self.urls(self.open))
        label = f"@127.0.0.1:{self.open.port}"
        result = self.expect(self.redlock("run", self.name, "--", "echo", "in", env=env), 0)
        self.assertEqual((result.stdout, result.stderr), ("in\n", ""))
        token = self.expect(self.redlock("acquire", self.name, env=env), 0).stdout.strip()
        eventually(lambda: self.cluster.owners(self.name) == [token] * 3, "all three masters have it")
        shown = self.expect(self.redlock("inspect", self.name, env=env), 0).stdout
        self.assertIn("m0" + label, shown)
        self.expect(self.redlock("release", self.name, token, env=env), 0)
        status = json.loads(self.expect(self.redlock("--json", "status", env=env), 0).stdout)
        self.assertEqual([node["node"] for node in status["nodes"]],
                         ["m0" + label, "m1" + label, f"127.0.0.1:{self.cluster.nodes[2].port}"])
        self.assertEqual({node["state"] for node in status["nodes"]}, {"ready"})
        doctor = json.loads(self.redlock("--json", "doctor", env=env).stdout)
        found = {(finding["id"], node) for finding in doctor["findings"] for node in finding["nodes"]}
        self.assertIn(("open", "m0" + label), found)  # a stranger was let in there, too
        self.assertFalse({what for what, _ in found} & {"unreachable", "refused", "same-host"}, found)

    def test_from_a_file(self):
        path = self.path("conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"nodes = {self.urls(self.open)}\n")
        self.expect(self.redlock("--config", path, "run", self.name, "--", "true", env=self.env(REDLOCK_NODES="")), 0)

    def test_its_password(self):
        words = [*PATIENT, "acquire", "--try", self.name]
        missing = self.redlock("--nodes", self.urls(self.locked), *words)
        self.expect(missing, 77, "asks for a password, to be written as ?sentinel_password=")
        wrong = self.redlock("--nodes", self.urls(self.locked, "?sentinel_password=wr0ng"), *words)
        self.expect(wrong, 77, "does not take the URL's sentinel_password: WRONGPASS")
        self.assertNotIn("wr0ng", wrong.stderr)
        right = self.urls(self.locked, "?sentinel_password=s3cret")
        shown = self.expect(self.redlock("--nodes", right, "config"), 0).stdout
        self.assertNotIn("s3cret", shown)
        # Neither `ps` nor the command sees it.
        process = self.start("-vv", "run", self.name, "--", "sh", "-c", "echo; env; cat", stdin=subprocess.PIPE,
                             env=self.env(REDLOCK_NODES=right))
        process.stdout.readline()
        out, err = process.communicate("", timeout=LIMIT)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(f"connected to 127.0.0.1:{self.cluster.nodes[0].port}", err)
        self.assertNotIn("s3cret", out + err)
        process = self.start("--nodes", right, "run", self.name, "--", "sh", "-c", "echo; cat", stdin=subprocess.PIPE)
        process.stdout.readline()
        with open(f"/proc/{process.pid}/cmdline", encoding="utf-8") as file:
            self.assertNotIn("s3cret", file.read())

    def test_errors(self):
        words = [*PATIENT, "acquire", "--try", self.name]
        unknown = f"redis+sentinel://127.0.0.1:{self.open.port}/nobody"
        self.expect(self.redlock("--nodes", unknown, *words), 69, "knows no master by the name nobody")
        dead = f"redis+sentinel://127.0.0.1:{free_port()}/m0"
        self.expect(self.redlock("--nodes", dead, *words), 69, "cannot be reached: connection refused")
        data = f"redis+sentinel://127.0.0.1:{self.cluster.nodes[0].port}/m0"
        self.expect(self.redlock("--nodes", data, *words), 69, "is no Sentinel, which usually has port 26379")
        no_name = "redis+sentinel://a,b,redis://c"
        self.expect(self.redlock("--nodes", no_name, *words), 64, "behind the Sentinels' hosts comes the master's name")
        twice = "redis+sentinel://a,b/m,redis+sentinel://c,b/m"
        self.expect(self.redlock("--nodes", twice, *words), 64, "m@c:26379 is the same server as node 1")


if __name__ == "__main__":
    main()
