"""Servers that stand still, and clocks that do not tell the time. Clients: killed, or stopped past their ttl."""
import asyncio
from contextlib import asynccontextmanager

from .faults import fault
from .resp import Redis


@fault("stop", "SIGSTOP: connections stand, nothing answers")
async def stop(c, f):
    await asyncio.gather(*(n.master.freeze() for n in f.nodes))
    try:
        for node in f.nodes:
            silent = not await Redis(node.master.host, node.master.port).answers()
            f.prove(silent, f"{node.label}: {'no answer' if silent else 'answered'} to a PING within 0.5 s")
        yield
    finally:
        await asyncio.gather(*(n.master.thaw() for n in f.nodes))


@fault("pause", "the container is paused: all its processes stand still")
async def pause(c, f):
    for node in f.nodes:
        await node.master.pause()
        text, holds = await node.master.proof_of_pause()
        f.prove(holds, f"{node.label}: {text}")
    try:
        yield
    finally:
        for node in f.nodes:
            await node.master.unpause()


async def clock_error_us(c, node):
    """The node's TIME minus ours, by the sample with the quickest answer."""
    best = None
    for _ in range(5):
        began = c.wall_us()
        seconds, micros = await node.master.redis.call("TIME")
        ended = c.wall_us()
        sample = (ended - began, int(seconds) * 1000000 + int(micros) - (began + ended) // 2)
        best = min(best or sample, sample)
    return best[1]


async def step(c, f, by_s):
    for node, seconds in zip(f.nodes, by_s):
        before = await clock_error_us(c, node)
        c.set_clock(node, c.clock_of(node) + round(seconds * 1e6))
        moved = (await clock_error_us(c, node) - before) / 1e6
        f.prove(abs(moved - seconds) < 0.1 + 0.2 * abs(seconds), f"{node.label}: TIME moved by {moved:+.3f} s")


@fault("clock_forward", "the wall clock is stepped forward: keys expire early")
async def clock_forward(c, f, by_s):
    await step(c, f, by_s)
    yield


@fault("clock_back", "the wall clock is stepped back: keys live on")
async def clock_back(c, f, by_s):
    await step(c, f, [-s for s in by_s])
    yield


@asynccontextmanager
async def drift(c, f, rate):
    before = [await clock_error_us(c, n) for n in f.nodes]
    began = c.now_us()
    running = True

    async def run():
        start = [c.clock_of(n) for n in f.nodes]
        while running:
            for node, offset in zip(f.nodes, start):
                c.set_clock(node, offset + round((c.now_us() - began) * rate))
            await asyncio.sleep(0.01)
    task = asyncio.create_task(run())
    try:
        yield
    finally:
        running = False
        await task
    took = c.now_us() - began
    for node, old in zip(f.nodes, before):
        moved = await clock_error_us(c, node) - old
        f.prove(moved * rate > 0.5 * rate * rate * took,
                f"{node.label}: TIME moved by {moved / 1e3:+.1f} ms within {took / 1e6:.1f} s")


@fault("clock_fast", "the wall clock runs fast")
async def clock_fast(c, f, rate=0.05):
    async with drift(c, f, rate):
        yield


@fault("clock_slow", "the wall clock runs slow")
async def clock_slow(c, f, rate=0.05):
    async with drift(c, f, -rate):
        yield


@fault("client_killed", "a client process is killed (-9) with the leases that it holds; another takes its place")
async def client_killed(c, f):
    for worker in f.clients:
        code = await worker.kill()
        c.events.write("died", w=worker.id)
        f.prove(code == -9, f"{worker.id}: ended by signal {-code}")
    try:
        yield
    finally:
        for worker in f.clients:
            await c.workers.replace(worker)


@fault("client_stopped", "a client process is stopped past the end of its leases, and continued")
async def client_stopped(c, f):
    for worker in f.clients:
        worker.freeze()
        c.events.write("stopped", w=worker.id)
        state = await worker.wait_state("T")
        f.prove(state == "T", f"{worker.id}: the kernel says state {state}")
    try:
        yield
    finally:
        for worker in f.clients:
            c.events.write("continued", w=worker.id)
            worker.thaw()
