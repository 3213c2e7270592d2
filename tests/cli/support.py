"""Real Redis servers on free ports, the program, and small helpers, for the tests of the program.

Nothing here waits for a fixed time: everything is polled until it is true, with a limit that only a failure reaches.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["REDLOCK_PROGRAM"]
LIMIT = 60  # seconds until a wait is a failure
# For one attempt that has to come out, also while the machine stalls.
PATIENT = ("--node-timeout", "5s", "--connect-timeout", "20s")


def eventually(condition, what, limit=LIMIT):
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"never happened: {what}")
        time.sleep(0.01)


def in_some_round(body):
    """For what a machine that stalls spoils, as a lease that is over before it could be extended: done again until it came
    out once. What goes wrong by itself goes wrong every time, and shows its last round."""
    for _ in range(4):
        try:
            return body()
        except (AssertionError, OSError, ValueError):
            pass
    return body()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def end_with_us():
    """In a child before exec: it is killed when this process ends, however that happens (a test runner's timeout)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Node:
    """One redis-server without persistence."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.options = options
        self.process = None
        for _ in range(20):  # somebody may take the port between our look and the server's
            self.port = free_port()
            if self.start():
                return
        raise AssertionError("no redis-server could be started")

    def server_line(self):
        log = os.path.join(self.folder, f"{self.port}.log")
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                "--dir", self.folder, "--logfile", log, *self.options]

    def start(self):
        self.process = subprocess.Popen(
            self.server_line(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_us)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.command("PING")
                return True
            except OSError:
                time.sleep(0.01)
        self.kill()
        return False

    def command(self, *words):
        """One command on a connection of its own; errors come back as text that begins with '-'."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as connection:
            stream = connection.makefile("rwb")
            password = [self.options[i + 1] for i, o in enumerate(self.options) if o == "--requirepass"]
            if password:
                self.send(stream, "AUTH", password[0])
            return self.send(stream, *words)

    @staticmethod
    def send(stream, *words):
        encoded = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        stream.write(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded))
        stream.flush()
        line = stream.readline().rstrip(b"\r\n")
        if not line:
            raise OSError("connection closed")
        if line[:1] == b"$":
            size = int(line[1:])
            return None if size < 0 else stream.read(size + 2)[:-2].decode()
        return int(line[1:]) if line[:1] == b":" else line.decode()

    def url(self, user=""):
        return f"redis://{user}127.0.0.1:{self.port}"

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.wait()


class Cluster:
    def __init__(self, count=5, *options):
        self.folder = tempfile.mkdtemp(prefix="redlock-cli-")
        self.options = options
        self.nodes = [Node(self.folder, *options) for _ in range(count)]

    def urls(self, user=""):
        return ",".join(node.url(user) for node in self.nodes)

    def init(self):
        """Marks the nodes ready, so that nothing settles; needed once, before the first lock."""
        password = [self.options[i + 1] for i, o in enumerate(self.options) if o == "--requirepass"]
        urls = self.urls(f":{password[0]}@" if password else "")
        made = subprocess.run([PROGRAM, "init"], env=environment(REDLOCK_NODES=urls), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        if made.returncode != 0:
            raise AssertionError(f"init: exit {made.returncode}\n{made.stdout}\n{made.stderr}")

    def owners(self, name):
        return [node.command("GET", "lock:" + name) for node in self.nodes]

    def close(self):
        for node in self.nodes:
            node.kill()
        shutil.rmtree(self.folder)


def environment(**changes):
    """Ours without what the program would read, so that the caller's shell has no say in the tests."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("REDLOCK_") and key != "NO_COLOR"}
    env.update(TERM="xterm", LC_ALL="C.UTF-8", XDG_CONFIG_HOME="/nonexistent")
    env.update(changes)
    return env


class ProgramTest(unittest.TestCase):
    """Gives each test class five masters, and each test a lock name and a folder of its own."""

    count = 5
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.count, *cls.options)
        cls.cluster.init()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1].replace("test_", "")
        self.folder = tempfile.mkdtemp(prefix="redlock-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def env(self, **changes):
        return environment(**{"REDLOCK_NODES": self.cluster.urls(), **changes})

    def redlock(self, *words, **options):
        """Runs the program to its end."""
        options.setdefault("env", self.env())
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=LIMIT, check=False, **options)

    def start(self, *words, **options):
        """Starts the program and leaves it running; it is ended with the test at the latest."""
        options.setdefault("env", self.env())
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([PROGRAM, *words], text=True, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def expect(self, result, code, error=""):
        """The exit code; with `error`, exactly one line on standard error that holds it."""
        shown = f"exit {result.returncode}\nstdout: {result.stdout}\nstderr: {result.stderr}"
        self.assertEqual(result.returncode, code, shown)
        if error:
            self.assertEqual(len(result.stderr.splitlines()), 1, shown)
            self.assertTrue(result.stderr.startswith("redlock: "), shown)
            self.assertIn(error, result.stderr, shown)
        return result

    def expect_json_error(self, result, code, error_code):
        self.expect(result, code)
        error = json.loads(result.stdout)["error"]
        self.assertEqual(set(error), {"code", "message", "nodes"})
        self.assertEqual(error["code"], error_code)
        self.assertEqual(result.stderr, f"redlock: {error['message']}\n")
        for node in error["nodes"]:
            self.assertEqual(set(node), {"node", "vote", "ms", "error"})
        return error

    def take(self, name, ttl="30s"):
        """Makes somebody else hold the lock; the value is his token."""
        return self.expect(self.redlock(*PATIENT, "acquire", "--try", "--ttl", ttl, name), 0).stdout.strip()

    def assert_free(self, name):
        """Nothing of the lock is left; undoing goes on for a moment behind an answer."""
        eventually(lambda: self.cluster.owners(name) == [None] * self.count, f"{name} is free on every node")

    def content(self, path):
        """What a command wrote, once it has written it completely: up to a newline."""
        def whole():
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                return text if text.endswith("\n") else None
            except FileNotFoundError:
                return None
        return eventually(whole, f"{path} was written")


def main():
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
