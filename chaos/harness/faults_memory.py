"""Nodes that forget, or remember the past, or have no room: what Redlock as published cannot survive."""
import asyncio
import shutil
from contextlib import asynccontextmanager

from .faults import fault
from .resp import RedisError


async def take_snapshot(nodes):
    """What restart_old will come back with."""
    async def one(node):
        await node.put_probe("old")
        await node.master.redis.call("SAVE", timeout=10)
        shutil.copy(node.master.folder / "dump.rdb", node.master.folder / "kept.snapshot")
        await node.put_probe("new")
    await asyncio.gather(*(one(n) for n in nodes))


async def start_again(node, memory):
    server = node.master
    if memory != "kept":
        server.forget()
    if memory == "old":
        shutil.copy(server.folder / "kept.snapshot", server.folder / "dump.rdb")
    # With appendonly on, Redis reads the append-only file alone; it is switched on when the snapshot was read.
    server.configure(append_only=memory != "old")
    await server.start()
    await server.wait_up()
    if memory == "old":
        await server.redis.call("CONFIG", "SET", "appendonly", "yes")
        server.configure()


@asynccontextmanager
async def killed(f, memory, remembers):
    """Kill, and after the yield start again; the probe must read `remembers` then."""
    if memory != "old":
        await asyncio.gather(*(n.put_probe("new") for n in f.nodes))
    before = await asyncio.gather(*(n.master.run_id() for n in f.nodes))
    await asyncio.gather(*(n.master.kill() for n in f.nodes))
    try:
        yield
    finally:
        await asyncio.gather(*(start_again(n, memory) for n in f.nodes))
    after = await asyncio.gather(*(n.master.run_id() for n in f.nodes))
    probes = await asyncio.gather(*(n.probe() for n in f.nodes))
    for node, old, new, probe in zip(f.nodes, before, after, probes):
        f.prove(old != new and probe == remembers,
                f"{node.label}: run_id {old[:6]} -> {new[:6]}, a key written before the kill reads {probe!r}")


@fault("kill_restart_kept", "kill -9, started again with what its append-only file (fsync always) holds")
async def kill_restart_kept(c, f):
    async with killed(f, "kept", "new"):
        yield


@fault("kill_restart_empty", "kill -9, started again without its memory")
async def kill_restart_empty(c, f):
    async with killed(f, "empty", None):
        yield


@fault("kill_restart_old", "kill -9, started again with the memory of a while ago (an RDB file)")
async def kill_restart_old(c, f):
    async with killed(f, "old", "old"):
        yield


@fault("flushall", "FLUSHALL: everything is forgotten while the server runs on")
async def flushall(c, f):
    for node in f.nodes:
        await node.put_probe("new")
        keys = await node.master.redis.call("DBSIZE")
        await node.master.redis.call("FLUSHALL")
        probe = await node.probe()
        f.prove(probe is None, f"{node.label}: {keys} keys, then the probe reads {probe!r}")
    yield


@fault("script_flush", "SCRIPT FLUSH: the server no longer knows the scripts by their hashes")
async def script_flush(c, f):
    for node in f.nodes:
        sha = await node.master.redis.call("SCRIPT", "LOAD", "return 1")
        await node.master.redis.call("SCRIPT", "FLUSH")
        known = await node.master.redis.call("SCRIPT", "EXISTS", sha)
        f.prove(known == [0], f"{node.label}: a script that was loaded: known {known[0]}")
    yield


async def fill(node, bytes_each=65536, count=64):
    commands = [["SET", f"chaos:ballast:{i}", "x" * bytes_each] for i in range(count)]
    return await node.master.redis.pipeline(*commands, timeout=10)


async def limit_memory(node, policy):
    used = int((await node.master.redis.info("memory"))["used_memory"])
    await node.master.redis.call("CONFIG", "SET", "maxmemory-policy", policy)
    await node.master.redis.call("CONFIG", "SET", "maxmemory", str(used + (1 << 20)))


async def free_memory(node):
    await node.master.redis.call("CONFIG", "SET", "maxmemory", "0")
    await node.master.redis.call("CONFIG", "SET", "maxmemory-policy", "noeviction")
    await node.master.redis.call("DEL", *[f"chaos:ballast:{i}" for i in range(64)])


@fault("memory_full", "memory full, nothing is evicted: writes are refused (OOM)")
async def memory_full(c, f):
    for node in f.nodes:
        await limit_memory(node, "noeviction")
        replies = await fill(node)
        refused = [r for r in replies if isinstance(r, RedisError) and str(r).startswith("OOM")]
        f.prove(bool(refused), f"{node.label}: {len(refused)} of {len(replies)} writes refused as out of memory")
        await node.master.redis.call("CONFIG", "SET", "maxmemory", "1mb")
    try:
        yield
    finally:
        for node in f.nodes:
            await free_memory(node)


@fault("eviction", "an evicting policy and too little memory: keys vanish")
async def eviction(c, f):
    for node in f.nodes:
        before = int((await node.master.redis.info("stats"))["evicted_keys"])
        await limit_memory(node, "allkeys-random")
        await fill(node)
        after = int((await node.master.redis.info("stats"))["evicted_keys"])
        f.prove(after > before, f"{node.label}: evicted_keys {before} -> {after}")
    try:
        yield
    finally:
        for node in f.nodes:
            await free_memory(node)
