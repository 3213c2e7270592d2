"""Set `throughput`: locks per second by how many workers want one each, names all distinct, so that nobody waits for anybody:
what is left is the client, five servers and the processors."""
from .clients import by_turns, ready, settle, summary
from .nodes import Nodes

WORKERS = (1, 4, 16, 64, 256, 1024)
NAMES = ("floor", "again", "bare", "callbacks", "coroutine", "guarded", "fenced", "blocking")
MOST_THREADS = 256  # LockManager has one per worker
PAIRS = 4000        # of a batch, over all workers: long beside what it takes to begin and to end
PAIRS_ALONE = 200   # of a worker: alone it is bound by round trips, and 4000 would take seconds


def point(run, nodes, workers):
    peers = {name: run.peers[name] for name in NAMES if name != "blocking" or workers <= MOST_THREADS}
    peers = {**peers, **run.npm.peers()}
    drivers = {name: peer.start("times", nodes.ports, workers=workers) for name, peer in peers.items()}
    ready(drivers)
    settle()
    pairs = min(PAIRS_ALONE, PAIRS / workers) * run.scale
    batches = by_turns(drivers, run.rounds, lambda name: max(2, round(pairs * peers[name].share)),
                       run.progress(f"{workers} workers"))
    for driver in drivers.values():
        driver.end()
    members = [{**peers[name].described(), **summary(some, batches["floor"])} for name, some in batches.items()]
    noise = next(member["ratio"] for member in members if member["name"] == "again")
    return {"workers": workers, "noise": noise, "members": [member for member in members if member["name"] != "again"]}


def throughput(run):
    nodes = Nodes(5)
    points = [point(run, nodes, workers) for workers in ((1, 8, 64) if run.quick else WORKERS)[:run.most]]
    nodes.stop()
    return {"nodes": 5, "points": points, "left_out": run.npm.missing}
