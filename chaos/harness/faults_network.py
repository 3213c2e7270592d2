"""What networks do, all by the proxies before the nodes and so without rights. `door` is one client's way to a
node; none means all of them. Proofs are the proxy's counters, or times measured through a door of the harness's
own."""
import asyncio
from contextlib import asynccontextmanager

from .faults import fault


def total(value):
    return sum(value) if isinstance(value, list) else value


@asynccontextmanager
async def weather(c, f, command, counter, door=None, cuts=False):
    """`command` until healed. The counter has to grow on every node."""
    for node in f.nodes:
        node.cut = node.cut or (cuts and door is None)
    before = [await n.tell(command, door) for n in f.nodes]
    try:
        yield
    finally:
        after = [await n.tell("counters") for n in f.nodes]
        for node in f.nodes:
            await node.tell("heal", door)
            if door is None:
                node.cut = False
    for node, old, new in zip(f.nodes, before, after):
        more = total(new[counter]) - total(old[counter])
        f.prove(more > 0, f"{node.label}: {more} {COUNTED[counter]}")


COUNTED = {"dropped": "bytes dropped", "held": "bytes held back", "stalled": "bytes stalled", "reset": "connections reset",
           "truncated": "connections cut within their bytes", "half_open": "connections left half open",
           "refused": "connections refused"}


@fault("partition", "cut off from the clients: nothing arrives either way until it heals, then all of it")
async def partition(c, f, door=None):
    async with weather(c, f, "hold both", "held", door, cuts=True):
        yield


@fault("unreachable", "connections end and new ones are refused")
async def unreachable(c, f, door=None):
    for node in f.nodes:
        await node.tell("refuse", door)
    async with weather(c, f, "reset", "refused", door, cuts=True):
        yield


@fault("replies_lost", "requests arrive and take effect, the replies are lost")
async def replies_lost(c, f, door=None):
    async with weather(c, f, "drop down", "dropped", door, cuts=True):
        yield


@fault("requests_lost", "requests are lost, connections stand")
async def requests_lost(c, f, door=None):
    async with weather(c, f, "drop up", "dropped", door, cuts=True):
        yield


@fault("loss", "one packet in ten is lost: its bytes and all behind them come 200 ms later")
async def loss(c, f, door=None):
    async with weather(c, f, "loss both 10 200000", "stalled", door):
        yield


@fault("truncation", "every connection is cut after a random number of bytes, within a reply or a request")
async def truncation(c, f, way="down", below=20000):
    async with weather(c, f, f"truncate {way} {below}", "truncated", cuts=True):
        yield


async def instant(c, f, command, counter):
    before = [await n.tell("counters") for n in f.nodes]
    after = [await n.tell(command) for n in f.nodes]
    for node, old, new in zip(f.nodes, before, after):
        more = total(new[counter]) - total(old[counter])
        f.prove(more > 0, f"{node.label}: {more} {COUNTED[counter]}")


@fault("reset", "all connections are reset at once")
async def reset(c, f):
    await instant(c, f, "reset", "reset")
    yield


@fault("half_open", "the server's ends of all connections vanish, and the clients are not told")
async def half_open(c, f):
    await instant(c, f, "half-open", "half_open")
    try:
        yield
    finally:
        for node in f.nodes:
            await node.tell("heal")


@asynccontextmanager
async def slow(c, f, command, at_least_s, payload=1):
    before = await asyncio.gather(*(c.echo_through(n, payload) for n in f.nodes))
    for node in f.nodes:
        await node.tell(command)
    try:
        after = await asyncio.gather(*(c.echo_through(n, payload) for n in f.nodes))
        yield
    finally:
        for node in f.nodes:
            await node.tell("heal")
    for node, old, new in zip(f.nodes, before, after):
        f.prove(new >= at_least_s, f"{node.label}: a round trip took {old * 1e3:.1f} ms, then {new * 1e3:.1f} ms")


@fault("delay", "every byte comes later than usual")
async def delay(c, f, ms=30):
    async with slow(c, f, f"delay both {ms * 1000}", 2 * ms / 1e3):
        yield


@fault("jitter", "every byte comes up to 60 ms later, differently each time")
async def jitter(c, f):
    before = [await c.spread_through(n) for n in f.nodes]
    for node in f.nodes:
        await node.tell("delay both 1000 60000")
    try:
        after = [await c.spread_through(n) for n in f.nodes]
        yield
    finally:
        for node in f.nodes:
            await node.tell("heal")
    for node, old, new in zip(f.nodes, before, after):
        f.prove(new > 0.010, f"{node.label}: round trips differed by {old * 1e3:.1f} ms, then by {new * 1e3:.1f} ms")


@fault("throttle", "only 40 kB a second pass each way")
async def throttle(c, f):
    async with slow(c, f, "throttle both 40000", 0.2, payload=8000):
        yield
