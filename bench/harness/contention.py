"""Set `contention`: processes, each with workers, take one lock as often as they can and give it back at once. What comes of
it: how long a lock is waited for, how evenly it goes round, and how many requests the servers get for each section."""
import json

from . import figures
from .clients import ready, settle
from .nodes import Nodes
from .peers import as_peer
from .processes import Failed

CASES = ((1, 16), (1, 100), (2, 1), (4, 1), (8, 1), (16, 1), (4, 4), (10, 10))
NAMES = ("floor", "callbacks", "trying", "guarded", "blocking")
SPAN_MS = 1000
MOST_OF_FLOOR = 8  # contenders: more that poll every millisecond hardly let anybody win
MOST_OF_NPM = 4    # with more, a stretch of a second takes minutes: keys that are left behind last for their ttl


def one_peer(run, peer, nodes, case, rounds):
    processes, workers = case
    drivers = [peer.start("share", nodes.ports, prefix=peer.name, workers=workers) for _ in range(processes)]
    try:
        ready({f"{peer.name} {i}": driver for i, driver in enumerate(drivers)})
        settle()
        before, batches = nodes.requests(), [[] for _ in drivers]
        for _ in range(rounds):
            for driver in drivers:
                driver.tell(SPAN_MS)  # also in brief: all have to come to it
            for driver, some in zip(drivers, batches):
                some.append(json.loads(driver.line()))
        requests = nodes.requests() - before
    finally:  # one that is stuck must not run on beside those that come after it
        for driver in drivers:
            driver.end()
    waits = [t for some in batches for batch in some for t in batch["acquire_us"]]
    shares = [sum(batch["ops"] for batch in some) for some in batches]
    wall_us = sum(max(some[i]["wall_us"] for some in batches) for i in range(rounds))
    return {"sections": sum(shares), "per_s": sum(shares) / wall_us * 1e6, "wait_us": figures.spread(waits),
            "distribution": figures.distribution(waits), "shares": shares, "apart": figures.shares_apart(shares),
            "requests": requests / max(1, sum(shares)),
            "failed": sum(batch["failed"] + batch["errors"] for some in batches for batch in some),
            "overlaps": sum(batch["overlaps"] for some in batches for batch in some)}


def contention(run):
    nodes = Nodes(5)
    peers, npm, cases = {name: run.peers[name] for name in NAMES[:run.most]}, run.npm.peers(), []
    for case in (((2, 1), (4, 4)) if run.quick else CASES)[:run.most]:
        processes, workers = case
        chosen = {name: peer for name, peer in peers.items() if name != "floor" or processes * workers <= MOST_OF_FLOOR}
        chosen.update(npm if processes * workers <= MOST_OF_NPM else {})
        members, progress = [], run.progress(f"{processes} processes x {workers} workers")
        for i, (name, peer) in enumerate(chosen.items()):
            said = {**peer.described(), **as_peer(name)}
            try:
                members.append({**said, **one_peer(run, peer, nodes, case, max(1, run.rounds // 4))})
            except Failed as fault:
                members.append({**said, "stuck": str(fault)})
            nodes.forget(peer.name)
            progress(i + 1, len(chosen))
        cases.append({"processes": processes, "workers": workers, "members": members})
    nodes.stop()
    return {"nodes": 5, "cases": cases, "left_out": run.npm.missing}
