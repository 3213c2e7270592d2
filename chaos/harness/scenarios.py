"""What is done to a deployment, a name each. Faults say what they do (faults*.py); a scenario says to how many
nodes, how long, and what comes after. Each ends with a deployment in which all nodes can vote again."""
from .faults import once
from .faults_failover import failover, failover_stale
from .faults_memory import (eviction, flushall, kill_restart_empty, kill_restart_kept, kill_restart_old, memory_full,
                            script_flush, take_snapshot)
from .faults_network import (delay, half_open, jitter, loss, partition, replies_lost, requests_lost, reset, throttle,
                             truncation, unreachable)
from .faults_pause import (client_killed, client_stopped, clock_back, clock_fast, clock_forward, clock_slow, pause, stop)

SCENARIOS = {}  # name -> (title, body)
LONG_ONLY = {"restart-empty-two", "stop-majority", "partition-client-majority", "unreachable-majority",
             "replies-lost-majority", "truncation-requests"}  # no kind of fault that others do not have
CONTROLS = {}   # those that only show that something broken is found out


def scenario(name, title):
    def wrap(body):
        SCENARIOS[name] = (title, body)
        return body
    return wrap


def plain(name, title, count, occur, **options):
    """One fault on so many nodes, for as long as faults last."""
    async def body(c):
        async with occur(c, c.pick(count), **options):
            await c.last()
    SCENARIOS[name] = (title, body)


plain("restart-kept", "one node is killed and comes back with its memory", 1, kill_restart_kept)
plain("restart-empty", "one node is killed and comes back without its memory", 1, kill_restart_empty)


@scenario("restart-empty-two", "two nodes are killed and come back at once, without their memory")
async def restart_empty_two(c):
    await once(kill_restart_empty(c, c.pick(2)))
    await c.last()


@scenario("restart-old", "three nodes are killed and come back with the memory of a while ago")
async def restart_old(c):
    nodes = c.pick(3)
    await take_snapshot(nodes)
    await c.sleep(0.5 * c.settings.ttl_s)
    await once(kill_restart_old(c, nodes))


@scenario("all-kept", "all five are killed at once and come back with their memory")
async def all_kept(c):
    async with kill_restart_kept(c, c.nodes):
        await c.sleep(0.3)


@scenario("all-empty", "all five are killed at once and come back without their memory")
async def all_empty(c):
    async with kill_restart_empty(c, c.nodes):
        await c.sleep(0.3)


@scenario("rolling-fast", "one node after the other comes back without its memory, all within a ttl")
async def rolling_fast(c):
    for node in c.pick(5):
        await once(kill_restart_empty(c, [node]))
        await c.sleep(c.settings.ttl_s / 20)


@scenario("rolling-slow", "one node after the other comes back without its memory, more than a ttl apart")
async def rolling_slow(c):
    for node in c.pick(c.settings.rolling):
        await once(kill_restart_empty(c, [node]))
        await c.sleep(1.3 * c.settings.ttl_s)


@scenario("flushall", "FLUSHALL on three nodes, one after the other")
async def flush_some(c):
    for node in c.pick(3):
        await once(flushall(c, [node]))
        await c.sleep(0.2)


plain("script-flush", "SCRIPT FLUSH on all nodes", 5, script_flush)
plain("memory-full", "two nodes are full and refuse writes", 2, memory_full)
plain("eviction", "two nodes evict keys for a while", 2, eviction)


@scenario("stop-short", "two nodes stand still for longer than the node timeout")
async def stop_short(c):
    async with stop(c, c.pick(2)):
        await c.sleep(0.6)


@scenario("stop-long", "two nodes stand still for longer than a ttl")
async def stop_long(c):
    async with stop(c, c.pick(2)):
        await c.sleep(1.5 * c.settings.ttl_s)


@scenario("stop-majority", "three nodes stand still for longer than a ttl")
async def stop_majority(c):
    async with stop(c, c.pick(3)):
        await c.sleep(1.5 * c.settings.ttl_s)


plain("pause", "the containers of two nodes are paused", 2, pause)


@scenario("two-down", "two nodes are down")
async def two_down(c):
    async with kill_restart_kept(c, c.pick(2)):
        await c.sleep(2 * c.settings.fault_s)


@scenario("partition-client", "one client process is cut off from two nodes")
async def partition_client(c):
    async with partition(c, c.pick(2), [client := c.client()], door=client.door):
        await c.last()


plain("partition-minority", "two nodes are cut off from all clients", 2, partition)
plain("partition-majority", "three nodes are cut off from all clients", 3, partition)


@scenario("partition-client-majority", "one client process is cut off from three nodes, past its leases")
async def partition_client_majority(c):
    async with partition(c, c.pick(3), [client := c.client()], door=client.door):
        await c.sleep(1.5 * c.settings.ttl_s)


plain("unreachable", "two nodes refuse connections", 2, unreachable)
plain("unreachable-majority", "three nodes refuse connections", 3, unreachable)
plain("replies-lost", "the replies of two nodes are lost", 2, replies_lost)
plain("replies-lost-majority", "the replies of three nodes are lost: what is written is not known to be", 3, replies_lost)
plain("requests-lost", "the requests to two nodes are lost", 2, requests_lost)
plain("delay", "three nodes are 60 ms away", 3, delay)
plain("jitter", "all nodes answer late, differently each time", 5, jitter)
plain("loss", "all nodes lose packets", 5, loss)
plain("throttle", "the lines to two nodes are narrow", 2, throttle)
plain("truncation", "connections to all nodes are cut within a reply", 5, truncation)
plain("truncation-requests", "connections to all nodes are cut within a request", 5, truncation, way="up")


@scenario("reset", "all connections to all nodes are reset, twice")
async def reset_twice(c):
    for _ in range(2):
        await once(reset(c, c.nodes))
        await c.last()


plain("half-open", "two nodes lose their connections, and the clients are not told", 2, half_open)


async def back_in_place(c, node):
    """The node's first server is the master again, and the replica stands by."""
    await once(failover(c, [node]))
    await node.detach()


@scenario("failover-stale", "a stale replica is promoted in place of a master that was killed; later, back")
async def failover_forced(c):
    (node,) = c.pick(1)
    async with failover_stale(c, [node]):
        await c.sleep(0.5 * c.settings.ttl_s)
    await c.ready()
    node.replica.forget()
    node.replica.configure()
    await node.replica.start()
    await node.replica.wait_up()
    await node.attach()
    await back_in_place(c, node)


@scenario("failover", "master and replica change places by FAILOVER, there and back")
async def failover_there_and_back(c):
    (node,) = c.pick(1)
    await node.attach()
    await once(failover(c, [node]))
    await c.ready()
    await node.wait_replica()
    await back_in_place(c, node)


@scenario("clock-steps", "the wall clocks of two nodes are stepped forward past the ttl, and back again")
async def clock_steps(c):
    nodes = c.pick(2)
    by = [c.settings.max_ttl_s * 1.5, c.settings.max_ttl_s * 2.5]
    await once(clock_forward(c, nodes, by_s=by))
    await c.last()
    await c.ready()
    await once(clock_back(c, nodes, by_s=by))
    await c.last()


@scenario("clock-rates", "the wall clock of one node runs fast, then slow")
async def clock_rates(c):
    nodes = c.pick(1)
    async with clock_fast(c, nodes):
        await c.last()
    async with clock_slow(c, nodes):
        await c.last()


@scenario("client-killed", "a client process is killed while it holds leases")
async def kill_client(c):
    async with client_killed(c, clients=[c.client()]):
        await c.last()


@scenario("client-stopped", "a client process is stopped past its ttl and continued")
async def stop_client(c):
    async with client_stopped(c, clients=[c.client()]):
        await c.sleep(1.5 * c.settings.ttl_s)


async def busy(c):
    await c.sleep(2 * c.settings.fault_s)

CONTROLS["busy"] = ("nothing is wrong but the client itself", busy)


async def fast_clocks(c):
    """Keys expire sooner than the client thinks, by less than the drift that it has to allow for. A client that was
    stopped holds its leases to the very end."""
    async with clock_fast(c, c.nodes, rate=0.009):
        for _ in range(2):
            async with client_stopped(c, clients=[c.client()]):
                await c.sleep(1.2 * c.settings.ttl_s)
            await c.sleep(0.3 * c.settings.ttl_s)

CONTROLS["fast-clocks"] = ("all clocks run fast by 0.9 %, while clients are stopped with their leases", fast_clocks)
