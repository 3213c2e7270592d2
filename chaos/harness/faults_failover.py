"""Replicas take over: with data that lag behind, or in good order."""
from .faults import fault
from .proxy import Proxy
from .resp import Redis


@fault("failover_stale", "replication link cut, master killed, the stale replica promoted, the address moved to it")
async def failover_stale(c, f):
    (node,) = f.nodes
    link = Proxy(c.proxy_program, node.master.address, 1, c.seed, host=c.deployment.host_seen_by_servers)
    await link.start()
    try:
        await node.attach(by=(link.host, link.ports[0]))
        await node.put_probe("old")
        await node.wait_replicated("old")
        await link.tell("hold both")
        await node.put_probe("new")
        old = await node.master.run_id()
        yield  # what is granted meanwhile, the replica never hears of
        counters = await link.tell("counters")
        await node.master.kill()
        await node.replica.redis.call("REPLICAOF", "NO", "ONE")
        await node.move()
    finally:
        await link.end()
    new, probe = await node.master.run_id(), await node.probe()
    f.prove(old != new and probe == "old" and sum(counters["held"]) > 0,
            f"{node.label}: run_id {old[:6]} -> {new[:6]}, {sum(counters['held'])} bytes of replication held back, "
            f"the probe reads {probe!r}")


@fault("failover", "FAILOVER: master and replica change places in good order, and the address moves")
async def failover(c, f):
    for node in f.nodes:
        old = await node.master.run_id()
        await node.hand_over()
        new = await node.master.run_id()
        was = (await Redis(node.replica.host, node.replica.port).info("replication"))["role"]
        f.prove(old != new and was == "slave",
                f"{node.label}: run_id {old[:6]} -> {new[:6]}, the former master is a {was} now")
    yield
