"""What the runner waits for and talks to: it ends with the run, also when that is stopped, and silence has an end."""
import asyncio
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import child, proxy, watcher  # noqa: E402

LIMIT_S = 60


async def wait_for(condition):
    for _ in range(LIMIT_S * 50):
        if condition():
            return True
        await asyncio.sleep(0.02)
    return False


def ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class OutputTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pids = Path(folder.name) / "pids"
        # Its own child does the work.
        self.shell = ["sh", "-c", f"sleep 600 & echo $! $$ > {self.pids}.part; mv {self.pids}.part {self.pids}; wait"]

    async def started(self):
        self.assertTrue(await wait_for(self.pids.exists))
        return [int(word) for word in self.pids.read_text().split()]

    async def test_a_run_that_is_stopped_ends_what_it_waits_for(self):
        task = asyncio.create_task(child.output(self.shell))
        pids = await self.started()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue(await wait_for(lambda: all(map(ended, pids))))

    async def test_what_takes_too_long_ends_with_all_it_started(self):
        async def until_it_works(work, _):
            work.close()
            await self.started()
            raise asyncio.TimeoutError
        with mock.patch.object(asyncio, "wait_for", until_it_works), self.assertRaisesRegex(child.Failed, "within 7 s"):
            await child.output(self.shell, timeout=7)
        self.assertTrue(await wait_for(lambda: all(map(ended, [int(word) for word in self.pids.read_text().split()]))))

    async def test_what_a_command_says(self):
        self.assertEqual(await child.output(["echo", "one"]), "one\n")
        with self.assertRaisesRegex(child.Failed, "failed: why$"):
            await child.output(["sh", "-c", "echo no >&2; echo why >&2; exit 3"])
        with self.assertRaisesRegex(child.Failed, "/nowhere/program cannot be run"):
            await child.output(["/nowhere/program"])


class ProxyTest(unittest.IsolatedAsyncioTestCase):
    async def test_a_proxy_that_says_nothing_is_named_and_ended(self):
        silent = proxy.Proxy("none", "none", 1, 1)
        silent._process = await child.spawn(["sleep", "600"], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        with mock.patch.object(proxy, "PATIENCE_S", 0.05):
            with self.assertRaisesRegex(child.Broken, "none did not answer"):
                await silent.tell("counters")
            await silent.end()
        self.assertEqual(silent._process.returncode, -9)


class SweepTest(unittest.TestCase):
    def test_notes_that_are_torn_are_left_alone(self):
        with tempfile.TemporaryDirectory() as place:
            for number, text in enumerate(("", "{", "[]", "7", "{}", '{"runner": 1}')):
                folder = Path(place) / f"{watcher.PREFIX}{number}"
                folder.mkdir()
                (folder / "orders.jsonl").write_text(f"{text}\n")
            gone = Path(place) / f"{watcher.PREFIX}gone"
            gone.mkdir()
            (gone / "orders.jsonl").write_text(f'{{"runner": {os.getpid()}, "start": 1}}\n{{"remove": "{gone}"}}\n')
            watcher.sweep(Path(place))
            self.assertEqual((gone.exists(), len(os.listdir(place))), (False, 6))


if __name__ == "__main__":
    unittest.main()
