"""A node of the quorum: a master, a replica that stands by until a scenario attaches it, and the proxy before them.
Which of the two servers the clients reach, and whether they reach it, is known here."""
import asyncio

from .child import Broken
from .proxy import Proxy
from .resp import Redis, RedisError

PROBE = "chaos:probe"  # a key of the harness's own: whether a server remembers it tells what it forgot


class Node:
    def __init__(self, number, deployment, proxy_program, doors, seed):
        self.id, self.label = number, f"node {number + 1}"
        self.servers = [deployment.server(f"node-{number + 1}"), deployment.server(f"replica-{number + 1}")]
        self.master, self.replica = self.servers
        self.proxy = Proxy(proxy_program, self.master.address, doors, seed * 10 + number)
        self.cut = False
        self.state = None
        self._watch = {}

    async def start(self):
        for server in self.servers:
            server.configure()
            await server.start()
        await asyncio.gather(*(s.wait_up() for s in self.servers))
        await self.proxy.start()

    async def tell(self, command, door=None):
        return await self.proxy.tell(command, door)

    async def move(self):
        """The address now leads to the other server; connections that stood end, as they do when an address moves."""
        self.change_places()
        await self.tell(f"move {self.master.address}")
        await self.tell("reset")

    def change_places(self):
        self.master, self.replica = self.replica, self.master

    async def make_new(self):
        """As if it had never been used, wherever a series left it."""
        self.cut = False
        for server in self.servers:
            await server.redis.call("REPLICAOF", "NO", "ONE")
            await server.redis.call("FLUSHALL")
        self.master, self.replica = self.servers
        await self.tell(f"move {self.master.address}")
        await self.tell("reset")

    async def look(self, guard):
        """What the node is to the clients now: its state and its role."""
        server = self.master
        if server.frozen:
            return "stopped", "master"
        if not server.up:
            return "down", "master"
        watch = self._watch.setdefault(server.name, Redis(server.host, server.port))
        try:
            info, marks = await watch.pipeline(["INFO", "everything"], ["MGET", "redlock:guard", "redlock:settling"],
                                               timeout=2)
        except OSError:
            return "down", "master"
        if isinstance(info, RedisError) or isinstance(marks, RedisError):
            return "down", "master"  # it loads its data
        facts = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
        role = "master" if facts.get("role") == "master" else "replica"
        if self.cut:
            return "cut", role
        mark, settling = marks
        marked = mark is not None and facts["run_id"][:32] in mark and facts["master_replid"][:32] in mark
        evicts = facts["maxmemory"] != "0" and facts["maxmemory_policy"] != "noeviction"
        if guard and (not marked or settling is not None or evicts):
            return "settling", role
        return "up", role

    # --- what faults and their proofs need -----------------------------------------------------------------

    async def put_probe(self, value):
        await self.master.redis.call("SET", PROBE, value)

    async def probe(self):
        return await self.master.redis.call("GET", PROBE)

    async def attach(self, by=None):
        """The replica follows the master, over `by` (host, port) or straight, and has all its data."""
        host, port = by or (self.master.host, self.master.port)
        await self.replica.redis.call("REPLICAOF", host, port)
        await self.wait_replica()

    async def wait_replica(self, timeout=15):
        for _ in range(timeout * 20):
            facts = await self.replica.redis.info("replication")
            if facts.get("master_link_status") == "up" and facts.get("master_sync_in_progress") == "0":
                return
            await asyncio.sleep(0.05)
        raise Broken(f"{self.replica.name} did not catch up with {self.master.name}")

    async def wait_replicated(self, value, timeout=15):
        """Until the probe has come to the replica: a master may send the stream some time after the data."""
        for _ in range(timeout * 20):
            if await self.replica.redis.call("GET", PROBE) == value:
                return
            await asyncio.sleep(0.05)
        raise Broken(f"{self.replica.name} is sent nothing by {self.master.name}")

    async def detach(self):
        await self.replica.redis.call("REPLICAOF", "NO", "ONE")
        await self.replica.redis.call("FLUSHALL")

    async def hand_over(self):
        """A coordinated FAILOVER to the replica; afterwards the address leads there."""
        await self.master.redis.call("FAILOVER")
        for _ in range(200):
            try:
                facts = await self.master.redis.info("replication")
                if facts["role"] == "slave" and facts.get("master_failover_state", "no-failover") == "no-failover":
                    return await self.move()
            except OSError:
                pass
            await asyncio.sleep(0.05)
        raise Broken(f"{self.label}: FAILOVER did not end")
