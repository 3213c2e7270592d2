"""One run as scenarios and faults see it: the nodes, the workers, the clock, chance, and where to write what
happened."""
import asyncio
import random
import time
from pathlib import Path

from .events import Events, now_us
from .resp import Redis


class Chaos:
    def __init__(self, deployment, nodes, workers, poller, settings, programs):
        self.deployment, self.nodes, self.workers, self.poller = deployment, nodes, workers, poller
        self.settings = settings
        self.seed = settings.seed
        self.proxy_program = programs["chaos_proxy"]
        self.events = None
        self.problems = []
        self.faults = 0
        self.random = random.Random(self.seed)
        self._clocks = {}
        self._probing_door = settings.doors - 1

    now_us = staticmethod(now_us)

    @staticmethod
    def wall_us():
        return time.time_ns() // 1000

    def begin_series(self, folder: Path):
        self.events = Events(folder / "events" / "harness.jsonl")
        self.problems, self.faults = [], 0

    def use_nodes(self, nodes):
        self.nodes = self.workers.nodes = nodes

    def problem(self, text):
        self.problems.append(text)

    # --- chance, the same for the same seed, series and scenario -------------------------------------------

    def reseed(self, *words):
        self.random = random.Random("/".join(map(str, (self.seed, *words))))

    def pick(self, count):
        return self.random.sample(self.nodes, count)

    def client(self):
        """A worker that may be hurt; the first is spared, so that somebody always works."""
        return self.random.choice(self.workers.running[1:])

    async def sleep(self, seconds):
        """About so long, differently for each seed."""
        await asyncio.sleep(seconds * self.random.uniform(0.8, 1.2))

    async def last(self):
        """As long as faults of this run last."""
        await self.sleep(self.settings.fault_s)

    async def ready(self, count=None):
        """Until so many nodes (all) can vote; settling is waited for."""
        count = len(self.nodes) if count is None else count
        timeout = 4 * self.settings.max_ttl_s + 20
        if not await self.poller.wait_ready(count, timeout):
            states = ", ".join(" ".join((n.label, *n.state)) for n in self.nodes if n.state != ("up", "master"))
            self.problem(f"not all nodes could vote again within {timeout:.0f} s: {states}")

    # --- clocks of servers: the shim's offset stays when a server starts again ------------------------------

    def clock_of(self, node):
        return self._clocks.get(node.master.name, 0)

    def set_clock(self, node, offset_us):
        self._clocks[node.master.name] = offset_us
        node.master.set_clock(offset_us)

    def true_clocks(self):
        self._clocks.clear()
        for node in self.nodes:
            for server in node.servers:
                server.set_clock(0)

    # --- measured as a client would --------------------------------------------------------------------------

    async def echo_through(self, node, size=1):
        """Seconds that a round trip takes behind the proxy."""
        line = Redis("127.0.0.1", node.proxy.ports[self._probing_door])
        try:
            await line.call("PING", timeout=10)
            began = time.monotonic()
            await line.call("ECHO", "x" * size, timeout=10)
            return time.monotonic() - began
        finally:
            line.close()

    async def spread_through(self, node):
        times = await asyncio.gather(*(self.echo_through(node) for _ in range(8)))
        return max(times) - min(times)
