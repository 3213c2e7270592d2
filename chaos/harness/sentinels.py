"""Three Sentinels that watch all five masters, and the series in which clients know the nodes by them alone."""
import asyncio

from .child import Broken
from .faults import fault
from .resp import Redis, RedisError

COUNT, QUORUM = 3, 2


class Sentinels:
    def __init__(self, deployment):
        self._servers = [deployment.server(f"sentinel-{i + 1}") for i in range(COUNT)]

    @staticmethod
    def name_of(node):
        return f"master-{node.id + 1}"

    def urls(self, nodes):
        hosts = ",".join(s.address for s in self._servers)
        return ",".join(f"redis+sentinel://{hosts}/{self.name_of(n)}" for n in nodes)

    async def start(self, nodes):
        for node in nodes:
            await node.attach()
        for server in self._servers:
            lines = []
            for node in nodes:
                name = self.name_of(node)
                lines += [f"sentinel monitor {name} {node.master.host} {node.master.port} {QUORUM}",
                          f"sentinel down-after-milliseconds {name} 1000", f"sentinel failover-timeout {name} 4000"]
            server.configure_sentinel(lines)
            await server.start()
        await asyncio.gather(*(s.wait_up() for s in self._servers))
        for node in nodes:
            await self._wait(node, lambda facts: int(facts["num-slaves"]) > 0 and
                             int(facts["num-other-sentinels"]) == COUNT - 1, "know each other and the replica")

    async def _wait(self, node, holds, what, timeout=40):
        for _ in range(timeout * 10):
            for server in self._servers:
                if server.up and not await self._says(server, node, holds):
                    break
            else:
                return
            await asyncio.sleep(0.1)
        raise Broken(f"the Sentinels of {node.label} did not {what} within {timeout} s")

    async def _says(self, server, node, holds):
        try:
            facts = await server.redis.call("SENTINEL", "MASTER", self.name_of(node))
        except (OSError, RedisError):
            return False
        return holds(dict(zip(facts[::2], facts[1::2])))

    async def wait_moved(self, node):
        """Until all agree that the replica is the master."""
        wanted = [node.replica.host, str(node.replica.port)]
        await self._wait(node, lambda facts: [facts["ip"], facts["port"]] == wanted, "promote the replica")

    async def kill_one(self, c):
        server = c.random.choice(self._servers)
        await server.kill()
        return server

    async def stop(self):
        for server in self._servers:
            if server.up:
                await server.kill()


@fault("sentinel_failover", "the master is killed, the Sentinels promote its replica, clients ask them where it is")
async def sentinel_failover(c, f):
    for node in f.nodes:
        old = await node.master.run_id()
        await node.master.kill()
        await c.sentinels.wait_moved(node)
        node.change_places()
        new = await node.master.run_id()
        role = (await Redis(node.master.host, node.master.port).info("replication"))["role"]
        f.prove(old != new and role == "master",
                f"{node.label}: the Sentinels name {node.master.address} now, run_id {old[:6]} -> {new[:6]}, a {role}")
    yield


@fault("sentinel_killed", "one of the three Sentinels is killed")
async def sentinel_killed(c, f):
    server = await c.sentinels.kill_one(c)
    silent = not await server.redis.answers()
    f.prove(silent, f"{server.name}: {'no answer' if silent else 'answers'}")
    try:
        yield
    finally:
        await server.start()
        await server.wait_up()


async def fail_over(c):
    (node,) = c.pick(1)
    async with sentinel_failover(c, [node]):
        pass
    await c.ready()
    server = node.replica
    server.forget()
    await server.start()
    await server.wait_up()
    await node.attach()


async def fail_over_with_two(c):
    async with sentinel_killed(c):
        await fail_over(c)


SENTINEL_SCENARIOS = {
    "sentinel-failover": ("a master is killed and the Sentinels promote its replica", fail_over),
    "sentinel-killed": ("the same while one Sentinel of three is down", fail_over_with_two),
}
