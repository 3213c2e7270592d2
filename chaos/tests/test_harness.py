"""The harness without servers: its words, its chance, and that a fault which proves nothing fails the run."""
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

BUILD = os.environ["CHAOS_BUILD"]
CHAOS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHAOS))

from harness.chaos import Chaos  # noqa: E402
from harness.faults import KINDS, fault  # noqa: E402
from harness.node import Node  # noqa: E402
from harness.resp import Redis, RedisError  # noqa: E402
from harness.scenarios import CONTROLS, SCENARIOS  # noqa: E402
from harness.sentinels import SENTINEL_SCENARIOS  # noqa: E402
from harness.series import ALL  # noqa: E402
from harness.settings import short  # noqa: E402
from harness.terminal import Terminal  # noqa: E402
from shared.ports import free_port  # noqa: E402


def run(*arguments, program="run", env=None):
    return subprocess.run([sys.executable, "-B", CHAOS / program, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})}, check=False)


class WordsTest(unittest.TestCase):
    def test_list_explains_everything_a_line_apiece(self):
        done = run("--list")
        self.assertEqual(done.returncode, 0)
        lines = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
        self.assertEqual({name for name, _ in lines}, {*KINDS, *SCENARIOS, *SENTINEL_SCENARIOS, *(s.id for s in ALL)})
        self.assertTrue(all(text for _, text in lines))

    def test_bad_words_end_with_64_and_one_line(self):
        for words, named in ((["--scenario", "nope"], "nope"), (["--series", "nope"], "nope"), (["--hours", "-1"], "--hours"),
                             (["--hours", "x"], "--hours"), (["--hours", "nan"], "--hours"), (["--hours", "inf"], "--hours"),
                             (["--seed", "-1"], "--seed"), (["--seed", str(1 << 40)], "--seed"),
                             (["--series", "guarded", "--scenario", "sentinel-killed"], "--scenario"), (["--suite", "odd"], "odd"), (["--seed", "x"], "--seed"),
                             (["--nonsense"], "--nonsense")):
            done = run(*words)
            self.assertEqual(done.returncode, 64, words)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(named, done.stderr)
        for program in ("up", "down"):
            self.assertEqual(run("now", program=program).returncode, 64)

    def test_what_is_missing_is_one_line_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("--processes", "--build", empty)
            self.assertEqual(done.returncode, 69)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("cmake --build", done.stderr)

    def test_a_table_is_of_a_run_that_is_over(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("--table", empty)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (65, 1))
            place = Path(empty) / "series" / "guarded"
            place.mkdir(parents=True)
            (Path(empty) / "run.json").write_text(json.dumps({"series": [
                {"id": "guarded", "title": "all", "expect": "clean"}]}))
            for odd in ("[]", "{}", json.dumps({"sections": 9})):
                (place / "verdict.json").write_text(odd)
                done = run("--table", empty)
                self.assertEqual((done.returncode, len(done.stderr.splitlines()), done.stdout), (65, 1, ""), odd)
            window = {"per_s": 10}
            (place / "verdict.json").write_text(json.dumps({
                "sections": 9, "overlaps": [{"fault": "f1"}], "inversions": [{"fault": None}], "leftovers": [],
                "validity": [], "faults": [{"id": "f1", "kind": "stop"}, {"id": "f2", "kind": "stop"}],
                "phases": [{"fault": "f1", "before": window, "during": window, "after": window,
                            "first_grant_after_heal_us": 2500}]}))
            self.assertIn("| stop | 2 | 1 | 0 | 10, 10, 10 | 2 ms |", run("--table", empty).stdout)

    def test_a_program_that_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as path:
            both = ["redis-server", "setpriv"]
            for program, rest in (("redis-server", ["setpriv"]), ("setpriv", ["redis-server"]), ("docker", both)):
                for name in rest:
                    (Path(path) / name).write_text("#!/bin/sh\necho v=7.0.0\n")
                    (Path(path) / name).chmod(0o755)
                done = run("--series", "guarded", "--build", BUILD, env={"PATH": path})
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (69, 1), done.stderr)
                self.assertIn(f"{program} is missing", done.stderr)
                self.assertIn("scripts/setup", done.stderr)
                for name in rest:
                    (Path(path) / name).unlink()

    def test_every_scenario_of_a_series_is_there(self):
        for series in ALL:
            for name in series.scenarios:
                self.assertIn(name, {**SCENARIOS, **CONTROLS, **SENTINEL_SCENARIOS})


class PortsTest(unittest.TestCase):
    def test_no_port_is_given_twice(self):
        """Servers are started some time after their ports were found."""
        first = free_port()
        self.assertTrue(12000 <= first < 32000)
        with mock.patch("random.randrange", side_effect=[first, first, *range(20000, 21000)]):
            self.assertNotEqual(free_port(), first)

    def test_a_port_in_use_is_not_free(self):
        with socket.socket() as taken, socket.socket() as other:
            for one in (taken, other):
                one.bind(("127.0.0.1", 0))
            ports = [one.getsockname()[1] for one in (taken, other)]
            other.close()
            with mock.patch("random.randrange", side_effect=ports):
                self.assertEqual(free_port(), ports[1])


class FakeEvents:
    def __init__(self):
        self.lines = []

    def next_fault(self):
        return "f1"

    def write(self, e, **fields):
        self.lines.append({"e": e, **fields})


def chaos(seed=1):
    nodes = [mock.Mock(id=i, label=f"node {i + 1}") for i in range(5)]
    c = Chaos(None, nodes, mock.Mock(), mock.AsyncMock(), short(seed), {"chaos_proxy": "none"})
    c.events = FakeEvents()
    return c


class FaultTest(unittest.IsolatedAsyncioTestCase):
    def make(self, body):
        with mock.patch.dict(KINDS):
            return fault("test", "for a test")(body)

    async def test_proof_is_written_when_it_ends(self):
        async def body(c, f):
            yield
            f.prove(True, "seen")
        c = chaos()
        async with self.make(body)(c, c.nodes[:1]):
            self.assertEqual([line["what"] for line in c.events.lines], ["begin"])
        self.assertEqual((c.events.lines[-1]["what"], c.events.lines[-1]["proof"]), ("end", "seen"))
        self.assertEqual(c.problems, [])

    async def test_no_proof_is_a_problem(self):
        async def nothing(c, f):
            yield

        async def refuted(c, f):
            yield
            f.prove(False, "nothing changed")
        for body, said in ((nothing, "no proof"), (refuted, "took no effect: nothing changed")):
            c = chaos()
            async with self.make(body)(c, c.nodes[:1]):
                pass
            self.assertIn(said, c.problems[0])
            self.assertEqual(c.events.lines[-1]["proof"], "")

    async def test_a_fault_that_is_interrupted_heals(self):
        healed = []

        async def body(c, f):
            try:
                yield
            finally:
                healed.append(f.id)
        with self.assertRaises(KeyError):
            async with self.make(body)(chaos()):
                raise KeyError
        self.assertEqual(healed, ["f1"])


class ChanceTest(unittest.TestCase):
    def draws(self, seed, scenario):
        c = chaos(seed)
        c.reseed(scenario, 0)
        return [[n.id for n in c.pick(2)] for _ in range(10)]

    def test_the_same_seed_picks_the_same_and_another_another(self):
        self.assertEqual(self.draws(1, "flushall"), self.draws(1, "flushall"))
        self.assertNotEqual(self.draws(1, "flushall"), self.draws(2, "flushall"))
        self.assertNotEqual(self.draws(1, "flushall"), self.draws(1, "reset"))


class LookTest(unittest.IsolatedAsyncioTestCase):
    """What a node is to its clients, by what it answers."""
    FACTS = {"role": "master", "run_id": "a" * 40, "master_replid": "b" * 40, "maxmemory": "0",
             "maxmemory_policy": "noeviction"}
    MARK = f"v1 {'a' * 32} {'b' * 32} 5"

    async def look(self, mark=MARK, settling=None, guard=True, cut=False, **facts):
        node = Node.__new__(Node)
        node.master, node.cut = mock.Mock(frozen=False, up=True, host="h", port=1), cut
        node.master.name = "node-1"
        info = "\r\n".join(f"{k}:{v}" for k, v in {**self.FACTS, **facts}.items())
        node._watch = {"node-1": mock.Mock(pipeline=mock.AsyncMock(return_value=[info, [mark, settling]]))}
        return await node.look(guard)

    async def test_states(self):
        self.assertEqual(await self.look(), ("up", "master"))
        self.assertEqual(await self.look(settling="1"), ("settling", "master"))
        self.assertEqual(await self.look(mark=None), ("settling", "master"))
        self.assertEqual(await self.look(run_id="c" * 40), ("settling", "master"))
        self.assertEqual(await self.look(mark=None, guard=False), ("up", "master"))
        self.assertEqual(await self.look(maxmemory="9", maxmemory_policy="allkeys-lru"), ("settling", "master"))
        self.assertEqual(await self.look(cut=True), ("cut", "master"))
        self.assertEqual(await self.look(role="slave"), ("up", "replica"))


class RedisTest(unittest.IsolatedAsyncioTestCase):
    async def talk(self, reply, timeout=60):
        async def serve(reader, writer):
            await reader.read(1000)
            writer.write(reply)
            await reader.read()  # until the client goes
            writer.close()
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        redis = Redis("127.0.0.1", server.sockets[0].getsockname()[1])
        try:
            return await redis.call("X", timeout=timeout)
        finally:
            redis.close()
            await asyncio.sleep(0.05)
            server.close()

    async def test_replies(self):
        self.assertEqual(await self.talk(b"+OK\r\n"), "OK")
        self.assertEqual(await self.talk(b"*3\r\n:1\r\n$-1\r\n$2\r\nhi\r\n"), [1, None, "hi"])
        with self.assertRaisesRegex(RedisError, "OOM"):
            await self.talk(b"-OOM no\r\n")

    async def test_a_connection_that_was_ended_is_made_again(self):
        served = 0

        async def once(reader, writer):
            nonlocal served
            served += 1
            await reader.read(1000)
            writer.write(b"+OK\r\n")
            await writer.drain()
            writer.close()
        server = await asyncio.start_server(once, "127.0.0.1", 0)
        redis = Redis("127.0.0.1", server.sockets[0].getsockname()[1])
        self.assertEqual([await redis.call("X", timeout=60) for _ in range(3)], ["OK"] * 3)
        self.assertEqual(served, 3)
        redis.close()
        server.close()

    async def test_silence_and_nonsense_are_errors_of_the_line(self):
        for reply in (b"", b"+half", b"HTTP/1.1\r\n"):
            with self.assertRaises(OSError):
                await self.talk(reply, timeout=0.3)


class CountTest(unittest.TestCase):
    def test_only_whole_lines_count_and_none_twice(self):
        with tempfile.TemporaryDirectory() as place:
            events = Path(place) / "events"
            events.mkdir()
            file, terminal = events / "w1.jsonl", Terminal(quiet=True)
            file.write_text('{"t":1,"e":"grant"}\n{"t":2,"e":"gra')
            self.assertEqual(terminal.count(Path(place)), 1)
            with open(file, "a", encoding="utf-8") as more:
                more.write('nt"}\n')
            self.assertEqual(terminal.count(Path(place)), 2)


if __name__ == "__main__":
    unittest.main()
