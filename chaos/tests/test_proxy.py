"""chaos_proxy before an echo server: every command does to bytes what it says, and its counters tell."""
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.proxy import Proxy  # noqa: E402

PROGRAM = Path(os.environ["CHAOS_BUILD"]) / "chaos" / "chaos_proxy"
SILENT_S = 0.3  # what arrives at all arrives sooner, on a machine that is not stuck


class ProxyTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.received = bytearray()
        self.server = await asyncio.start_server(self.echo, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        self.proxy = Proxy(str(PROGRAM), f"127.0.0.1:{self.port}", 2, 1)
        await self.proxy.start()

    async def asyncTearDown(self):
        await self.proxy.end()
        self.server.close()

    async def echo(self, reader, writer):
        try:
            while data := await reader.read(65536):
                self.received += data
                writer.write(data)
        except ConnectionError:
            pass
        writer.close()

    async def connect(self, door=0):
        return await asyncio.open_connection("127.0.0.1", self.proxy.ports[door])

    async def through(self, line, data=b"ping"):
        reader, writer = line
        writer.write(data)
        return await asyncio.wait_for(reader.readexactly(len(data)), 10)

    async def until(self, condition):
        """For as long as a slow machine may need."""
        for _ in range(1500):
            if await condition():
                return
            await asyncio.sleep(0.02)
        self.fail(f"it did not come: received {self.received!r}, counters {await self.proxy.tell('counters')}")

    async def has_received(self, data):
        return self.received == data

    async def counted(self, what, there_and_back):
        return (await self.proxy.tell("counters"))[what] == there_and_back

    async def silent(self, line):
        try:
            got = await asyncio.wait_for(line[0].read(65536), SILENT_S)
        except asyncio.TimeoutError:
            return True
        self.fail(f"not silent: {got!r}")

    async def no_connection(self):
        """It may be seen by whoever connects, or by the first who reads."""
        try:
            line = await self.connect()
        except ConnectionError:
            return True
        return await self.ended(line) == b""

    async def ended(self, line):
        try:
            return await asyncio.wait_for(line[0].read(), 10)
        except ConnectionError:
            return b""

    async def test_passes_bytes_on(self):
        data = os.urandom(3_000_000)
        line = await self.connect()
        self.assertEqual(await self.through(line, data), data)
        counters = await self.proxy.tell("counters")
        self.assertEqual((counters["passed"], counters["accepted"], counters["lines"]), ([len(data)] * 2, 1, [1, 0]))

    async def test_delays(self):
        line = await self.connect()
        await self.proxy.tell("delay both 60000")
        began = time.monotonic()
        await self.through(line)
        self.assertGreaterEqual(time.monotonic() - began, 0.12)

    async def test_jitter_keeps_the_order(self):
        line = await self.connect()
        await self.proxy.tell("delay both 0 20000")
        data = bytes(range(200))
        for byte in data:
            line[1].write(bytes([byte]))
            await line[1].drain()
            await asyncio.sleep(0.001)
        self.assertEqual(await asyncio.wait_for(line[0].readexactly(200), 10), data)

    async def test_lost_packets_come_late(self):
        line = await self.connect()
        await self.proxy.tell("loss up 100 150000")
        began = time.monotonic()
        await self.through(line)
        self.assertGreaterEqual(time.monotonic() - began, 0.15)
        self.assertEqual((await self.proxy.tell("counters"))["stalled"], [4, 0])

    async def test_throttles(self):
        line = await self.connect()
        await self.proxy.tell("throttle up 20000")
        began = time.monotonic()
        await self.through(line, b"x" * 6000)
        self.assertGreaterEqual(time.monotonic() - began, 0.29)

    async def test_holds_until_healed(self):
        line = await self.connect()
        await self.through(line)
        await self.proxy.tell("hold both")
        line[1].write(b"late")
        await self.until(lambda: self.counted("held", [4, 0]))
        await self.silent(line)
        self.assertEqual(self.received, b"ping")
        self.assertEqual((await self.proxy.tell("heal"))["held"], [4, 0])
        self.assertEqual(await asyncio.wait_for(line[0].readexactly(4), 10), b"late")

    async def test_what_was_held_arrives_though_the_sender_is_gone(self):
        line = await self.connect()
        await self.proxy.tell("hold both")
        line[1].write(b"orphan")
        await line[1].drain()
        line[1].close()
        await self.until(lambda: self.counted("held", [6, 0]))
        await asyncio.sleep(SILENT_S)  # the end of the sender as well
        await self.proxy.tell("heal")
        await self.until(lambda: self.has_received(b"orphan"))

    async def test_drops_one_way_and_never_goes_on_behind_a_gap(self):
        line = await self.connect()
        await self.proxy.tell("drop down")
        line[1].write(b"done")
        await self.until(lambda: self.has_received(b"done"))
        await self.until(lambda: self.counted("dropped", [0, 4]))
        await self.silent(line)
        whole = await self.connect(1)
        self.assertEqual((await self.proxy.tell("heal"))["dropped"], [0, 4])
        self.assertEqual(await self.ended(line), b"")
        self.assertEqual(await self.through(whole), b"ping")

    async def test_a_door_of_its_own(self):
        cut, other = await self.connect(0), await self.connect(1)
        await self.proxy.tell("hold both", door=0)
        cut[1].write(b"x")
        self.assertEqual(await self.through(other), b"ping")
        await self.silent(cut)

    async def test_refuses_and_resets(self):
        line = await self.connect()
        await self.through(line)
        self.assertEqual((await self.proxy.tell("reset"))["reset"], 1)
        self.assertEqual(await self.ended(line), b"")
        await self.proxy.tell("refuse")
        self.assertTrue(await self.no_connection())
        self.assertEqual((await self.proxy.tell("heal"))["refused"], 1)
        self.assertEqual(await self.through(await self.connect()), b"ping")

    async def test_half_open(self):
        line = await self.connect()
        await self.through(line)
        self.assertEqual((await self.proxy.tell("half-open"))["half_open"], 1)
        line[1].write(b"hello?")
        await self.silent(line)
        await self.proxy.tell("heal")
        self.assertEqual(await self.ended(line), b"")

    async def test_truncates_at_different_bytes(self):
        await self.proxy.tell("truncate down 1000")
        lengths = set()
        for _ in range(8):
            line = await self.connect()
            line[1].write(b"x" * 1000)
            lengths.add(len(await self.ended(line)))
        self.assertGreater(len(lengths), 3)
        self.assertLess(max(lengths), 1000)
        self.assertEqual((await self.proxy.tell("heal"))["truncated"], 8)
        self.assertEqual(await self.through(await self.connect(), b"y" * 2000), b"y" * 2000)

    async def test_moves(self):
        async def other(reader, writer):
            writer.write(b"elsewhere")
            writer.close()
        server = await asyncio.start_server(other, "127.0.0.1", 0)
        old = await self.connect()
        await self.proxy.tell(f"move 127.0.0.1:{server.sockets[0].getsockname()[1]}")
        self.assertEqual(await self.ended(await self.connect()), b"elsewhere")
        self.assertEqual(await self.through(old), b"ping")
        server.close()

    async def test_survives_clients_that_come_and_go_in_any_weather(self):
        commands = ["hold both", "heal", "drop down", "heal", "truncate both 50", "reset", "half-open", "refuse", "heal",
                    "throttle both 9000", "delay both 500 3000", "loss both 30 2000", "heal"]
        talking = True

        async def client(number):
            while talking:
                try:
                    reader, writer = await self.connect(number % 2)
                except OSError:
                    continue
                try:
                    writer.write(os.urandom(300))
                    await asyncio.wait_for(reader.read(100), 0.02)
                except (OSError, asyncio.TimeoutError):
                    pass
                if number % 3:
                    writer.transport.abort()  # with bytes unread: the proxy's next write meets a reset
                else:
                    writer.close()
        clients = [asyncio.create_task(client(i)) for i in range(12)]
        for _ in range(6):
            for command in commands:
                await self.proxy.tell(command)
                await asyncio.sleep(0.01)
        talking = False
        await asyncio.gather(*clients)
        await self.proxy.tell("heal")
        self.assertEqual(await self.through(await self.connect()), b"ping")

    async def test_a_server_that_is_down(self):
        self.server.close()
        await self.server.wait_closed()
        self.assertTrue(await self.no_connection())
        self.assertEqual((await self.proxy.tell("counters"))["unreachable"], 1)


class UsageTest(unittest.TestCase):
    def say(self, commands, *arguments):
        argv = [PROGRAM, "--upstream", "127.0.0.1:1", "--listen", "127.0.0.1:0", *arguments]
        return subprocess.run(argv, input=commands, capture_output=True, text=True, timeout=60, check=False)

    def test_bad_commands_change_nothing_and_say_so(self):
        for command in ("", "nonsense", "delay", "delay sideways 1", "delay up x", "delay up -1", "loss up 101 5",
                        "door 7 reset", "door x reset", "drop", "move nowhere", "usual 1", "heal up"):
            done = self.say(command + "\ncounters\n")
            answers = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([a["ok"] for a in answers], [True, False, True], command)
            self.assertEqual(done.returncode, 0)

    def test_bad_arguments(self):
        for arguments in (["--listen", "here"], ["--nonsense"], ["--seed", "x"]):
            done = self.say("", *arguments)
            self.assertEqual((done.returncode, len(done.stderr.strip().splitlines()) > 0), (64, True), arguments)

    def test_a_port_that_is_taken(self):

        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = self.say("", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
            self.assertEqual(done.returncode, 69)
            self.assertIn("address already in use", done.stderr)


if __name__ == "__main__":
    unittest.main()
