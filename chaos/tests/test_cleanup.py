"""Nothing stays behind: not after a run, not after ^C, not when the runner is killed, not when its cleaner is too."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

CHAOS = Path(__file__).resolve().parents[1]
BUILD = os.environ["CHAOS_BUILD"]


def processes(marker):
    """Those that name the folder or, as redis-server does, live in it."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                where = os.readlink(entry / "cwd")
            except OSError:
                continue
            if marker in line or where.startswith(marker):
                found[int(entry.name)] = line
    return found


def in_network(name):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "ns" / "net") == name:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def wait_for(condition, seconds=60):
    for _ in range(seconds * 20):
        if condition():
            return True
        time.sleep(0.05)
    return False


OWN_ENGINE = unittest.skipUnless(os.geteuid() == 0 and shutil.which("dockerd") and shutil.which("unshare"),
                                 "a Docker engine of our own takes root and docker.io")


class CleanupTest(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)
        self.place = Path(self.temp.name)

    def start(self, *words, mode=("--processes",)):
        argv = [sys.executable, "-B", CHAOS / "run", *mode, "--build", BUILD, "--series", "guarded", "--seed", "1",
                "--out", self.place / "out", *words]
        return subprocess.Popen(argv, env={**os.environ, "TMPDIR": str(self.place)}, start_new_session=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def folders(self):
        return list(self.place.glob("redlock-chaos-*"))

    def assert_nothing_left(self):
        gone = wait_for(lambda: not self.folders() and not processes(str(self.place)))
        self.assertTrue(gone, f"left: {self.folders()} {processes(str(self.place))}")

    def wait_until_it_works(self):
        grants = self.place / "out" / "series" / "guarded" / "events" / "w1.jsonl"
        self.assertTrue(wait_for(lambda: grants.exists() and '"grant"' in grants.read_text()))
        self.assertGreater(len([line for line in processes(str(self.place)).values() if "redis-server" in line]), 10)

    def test_after_a_run(self):
        run = self.start("--scenario", "restart-kept")
        _, said = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, said)
        self.assertEqual(self.folders(), [])
        self.assertEqual(processes(str(self.place)), {})

    def test_after_an_interrupt(self):
        run = self.start()
        self.wait_until_it_works()
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, said)
        self.assert_nothing_left()

    def test_after_the_runner_was_killed(self):
        run = self.start()
        self.wait_until_it_works()
        run.kill()
        run.communicate()
        self.assert_nothing_left()

    def test_after_the_cleaner_was_killed_as_well(self):
        run = self.start()
        self.wait_until_it_works()
        (cleaner,) = [int(p) for p in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
                      if "watcher.py" in Path(f"/proc/{p}/cmdline").read_text()]
        os.kill(cleaner, signal.SIGKILL)
        run.kill()
        run.communicate()
        self.assertTrue(wait_for(lambda: not processes(str(self.place))), processes(str(self.place)))
        self.assertEqual(len(self.folders()), 1)
        again = self.start("--scenario", "nothing-of-that-name")  # ends at once, and leaves the folder alone
        again.communicate(timeout=60)
        self.assertEqual(again.returncode, 64)
        self.assertEqual(len(self.folders()), 1)
        again = self.start("--build", self.place / "empty", "--out", self.place / "again")
        again.communicate(timeout=60)
        self.assertEqual(again.returncode, 69)
        self.assert_nothing_left()

    @OWN_ENGINE
    def test_up_and_down(self):
        def people(what):
            return subprocess.run([sys.executable, "-B", CHAOS / what], capture_output=True, text=True, timeout=180,
                                  env={**os.environ, "XDG_RUNTIME_DIR": str(self.place)}, check=False)
        self.assertEqual(people("down").stdout, "nothing is up\n")
        self.addCleanup(people, "down")
        up = people("up")
        self.assertEqual(up.returncode, 0, up.stderr)
        first = up.stdout.splitlines()[0]
        self.assertTrue(first.startswith("export REDLOCK_NODES=redis://"), first)
        again = people("up")
        self.assertEqual((again.returncode, len(again.stderr.splitlines())), (69, 1))
        self.assertIn("chaos/down", again.stderr)
        self.assertEqual(people("down").returncode, 0)
        self.assert_nothing_left()

    @OWN_ENGINE
    def test_up_is_stopped_on_the_way(self):
        up = subprocess.Popen([sys.executable, "-B", CHAOS / "up"], env={**os.environ, "XDG_RUNTIME_DIR": str(self.place)},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        orders = self.place / f"redlock-chaos-up-{os.getuid()}" / "orders.json"
        self.assertTrue(wait_for(lambda: orders.exists() and any(word in orders.read_text() for word in ('"kill"', '"run"'))))
        up.terminate()
        _, said = up.communicate(timeout=60)
        self.assertEqual((up.returncode, len(said.splitlines())), (130, 1), said)
        self.assert_nothing_left()
        self.assertFalse(orders.parent.exists())

    @OWN_ENGINE
    def test_containers_after_the_runner_was_killed(self):
        if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0:
            self.skipTest("a Docker engine runs here and is used")
        run = self.start(mode=())
        grants = self.place / "out" / "series" / "guarded" / "events" / "w1.jsonl"
        self.assertTrue(wait_for(lambda: grants.exists() and '"grant"' in grants.read_text(), 120))
        network = os.readlink(f"/proc/{run.pid}/ns/net")
        self.assertNotEqual(network, os.readlink("/proc/self/ns/net"))
        self.assertTrue(list(Path("/sys/fs/cgroup").glob(f"**/redlock-chaos-{run.pid}")))
        run.kill()
        run.communicate()
        self.assert_nothing_left()
        self.assertEqual(list(Path("/sys/fs/cgroup").glob(f"**/redlock-chaos-{run.pid}")), [])
        self.assertTrue(wait_for(lambda: not in_network(network)), in_network(network))


if __name__ == "__main__":
    unittest.main()
