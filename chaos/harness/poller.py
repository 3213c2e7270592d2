"""Looks at every node about ten times a second, on a line that no fault of the network touches, and writes down what
changed: the states, and how many nodes could vote."""
import asyncio


class Poller:
    def __init__(self, period_s=0.1):
        self._nodes, self._period_s = [], period_s
        self._events = self._task = None
        self._rounds = 0
        self.guard = True
        self.ready = None

    def begin(self, events, guard, nodes):
        """A new series: everything is written down afresh."""
        self._events, self.guard, self.ready, self._nodes = events, guard, None, nodes
        for node in self._nodes:
            node.state = None
        self._task = asyncio.create_task(self._run())

    async def stop(self):
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self):
        while True:
            await self.look()
            self._rounds += 1
            await asyncio.sleep(self._period_s)

    async def look(self):
        """At once, besides: what changes between two looks would not be seen."""
        await asyncio.gather(*(self._look(n) for n in self._nodes))
        ready = sum(n.state == ("up", "master") for n in self._nodes)
        if ready != self.ready:
            self.ready = ready
            self._events.write("quorum", ready=ready)

    async def _look(self, node):
        state = await node.look(self.guard)
        if state != node.state:
            node.state = state
            self._events.write("node", node=node.id, state=state[0], role=state[1])

    async def wait_ready(self, count, timeout):
        """False: not so many nodes could vote within that time."""
        # What was seen before this call may be of before the fault.
        seen = self._rounds + 2
        for _ in range(int(timeout * 20)):
            if self._rounds >= seen and self.ready >= count:
                return True
            await asyncio.sleep(0.05)
        return False
