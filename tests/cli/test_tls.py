"""TLS from the command line and the environment: what is trusted, what is refused, and what the errors say."""

import os
import subprocess

from support import LIMIT, PATIENT, Cluster, Node, ProgramTest, eventually, free_port, main


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)


def make_authority(folder, name):
    key, certificate = os.path.join(folder, f"{name}.key"), os.path.join(folder, f"{name}.crt")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", key, "-out", certificate)
    return certificate


def issue(folder, authority, name, names):
    """A certificate of `authority` with its key; the value is the two paths."""
    path = os.path.join(folder, name)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-addext", f"subjectAltName={names}", "-keyout", path + ".key", "-out", path + ".csr")
    ca = os.path.join(folder, authority)
    openssl("x509", "-req", "-in", path + ".csr", "-CA", ca + ".crt", "-CAkey", ca + ".key", "-CAcreateserial",
            "-copy_extensions", "copyall", "-days", "2", "-out", path + ".crt")
    return path + ".crt", path + ".key"


class Tls(ProgramTest):
    count = 3

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(0)
        folder = cls.cluster.folder
        cls.ca = make_authority(folder, "ours")
        cls.strangers = make_authority(folder, "strangers")
        server = issue(folder, "ours", "server", "DNS:redis.example,IP:127.0.0.1")
        cls.client = issue(folder, "ours", "client", "DNS:client")
        files = ("--tls-cert-file", server[0], "--tls-key-file", server[1], "--tls-ca-cert-file", cls.ca)
        cls.tls_ports = []
        for _ in range(cls.count):
            port = free_port()
            cls.cluster.nodes.append(Node(folder, "--tls-port", str(port), *files))
            cls.tls_ports.append(port)
        cls.cluster.init()

    def urls(self):
        return ",".join(f"rediss://127.0.0.1:{port}" for port in self.tls_ports)

    def tls(self, *words, **env):
        return self.redlock("--nodes", self.urls(), *words, env=self.env(**env))

    def with_certificate(self):
        return ["--tls-ca", self.ca, "--tls-cert", self.client[0], "--tls-key", self.client[1]]

    def test_run_by_flags_and_by_the_environment(self):
        result = self.expect(self.tls(*self.with_certificate(), "run", self.name, "--", "echo", "in"), 0)
        self.assertEqual((result.stdout, result.stderr), ("in\n", ""))
        env = {"REDLOCK_TLS_CA": self.ca, "REDLOCK_TLS_CERT": self.client[0], "REDLOCK_TLS_KEY": self.client[1]}
        token = self.expect(self.tls("acquire", self.name, **env), 0).stdout.strip()
        self.expect(self.tls("inspect", self.name, **env), 0)
        self.expect(self.tls("release", self.name, token, **env), 0)
        # The environment does not touch those who use no TLS.
        self.expect(self.redlock("inspect", self.name, env=self.env(REDLOCK_TLS_CA="/nonexistent")), 0)

    def test_errors_name_the_flag_that_helps(self):
        words = [*PATIENT, "acquire", "--try", self.name]
        self.expect(self.tls("--tls-ca", self.ca, *words), 69, "set --tls-cert and --tls-key")
        self.expect(self.tls("--tls-ca", self.strangers, *words), 69, "unknown authority 'ours'")
        result = self.expect(self.tls("--tls-ca", self.ca, "--tls-server-name", "other.example", *words), 69)
        self.assertIn("it is for 'redis.example, 127.0.0.1' and not for 'other.example'", result.stderr)
        self.assertIn("--tls-server-name", result.stderr)
        self.expect(self.tls("--tls-ca", "/nonexistent", *words), 64, "--tls-ca: cannot read '/nonexistent'")
        self.expect(self.tls("--tls-cert", self.ca, *words), 64, "--tls-cert is set and --tls-key is not")
        self.expect(self.redlock("--tls-ca", self.ca, *words), 64, "write rediss://")
        error = self.expect_json_error(self.tls("--json", "--tls-ca", self.strangers, *words), 69, "no_quorum")
        self.assertEqual(len(error["nodes"]), 3)

    def test_the_name_can_be_given(self):
        words = [*self.with_certificate(), "--tls-server-name", "redis.example"]
        self.expect(self.tls(*words, "run", self.name, "--", "true"), 0)

    def test_without_verification_it_works_and_says_what_that_means(self):
        words = ["--tls-no-verify", "--tls-cert", self.client[0], "--tls-key", self.client[1]]
        result = self.expect(self.tls(*words, "run", self.name, "--", "true", REDLOCK_TLS_CA=self.ca), 0)
        self.assertIn("--tls-no-verify is set: anybody on the way can pass for a node", result.stderr)

    def test_a_password_file_is_read_again(self):
        password = self.path("password")
        with open(password, "w", encoding="utf-8") as file:
            file.write("first\n")
        for node in self.cluster.nodes:
            node.command("CONFIG", "SET", "requirepass", "first")
            node.options = (*node.options, "--requirepass", "first")
        try:
            process = self.start("--password-file", password, "run", "--ttl", "6s", self.name, "--", "cat",
                                 stdin=subprocess.PIPE)
            eventually(lambda: any(self.cluster.owners(self.name)), "the lock is held")
            with open(password, "w", encoding="utf-8") as file:
                file.write("second\n")
            for node in self.cluster.nodes:
                node.command("CONFIG", "SET", "requirepass", "second")
                node.options = (*node.options[:-1], "second")
                node.command("CLIENT", "KILL", "TYPE", "normal")
            before = self.cluster.nodes[0].command("PTTL", "lock:" + self.name)
            eventually(lambda: self.cluster.nodes[0].command("PTTL", "lock:" + self.name) > before,
                       "it is extended under the new password")
            _, err = process.communicate("", timeout=LIMIT)
            self.assertEqual((process.returncode, err), (0, ""))
        finally:
            for node in self.cluster.nodes:
                node.command("CONFIG", "SET", "requirepass", "")
                node.options = node.options[:-2]


if __name__ == "__main__":
    main()
