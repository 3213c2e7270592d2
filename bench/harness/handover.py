"""Set `handover`: processes that all want one lock. The holder is told to release once all others have waited for a while;
timed is from the call of release to the moment when the next one has it, by the machine's one clock. Who gave it back wants
it again only then: a first attempt that comes at the right moment is no hand-over.

The bound is a release's round trip to a majority: the key must be gone there, or be another's, before the next can have
it. The floor that polls every millisecond stands beside it, to show what waiting without any help costs."""
import json
import random
import select
import time

from . import figures
from .clients import ready, settle
from .nodes import Nodes
from .peers import as_peer
from .processes import Failed

PROCESSES = (2, 4, 8, 16)
NAMES = ("floor", "callbacks", "trying", "guarded", "blocking")
HANDOVERS = 4  # per round
QUIET_PAIRS = 200
WAITED_S = (0.02, 0.12)  # long enough for everybody to have fallen into its pace of trying again


def whose_line(drivers, waiting, until):
    """The first of those that wait whose answer is there; None when time is up."""
    while (left := until - time.monotonic()) > 0:
        for i in waiting:
            if drivers[i].has_line():
                return i
        select.select([drivers[i] for i in waiting], [], [], left)
    return None


def hand_over(drivers, times, luck, random_source):
    """One process has it and all others wait; the answers go into `times` and `luck`."""
    if drivers[0].ask("A").split()[1] != "1":
        raise Failed(f"{drivers[0].name}: a lock that nobody holds was not granted")
    holder = 0
    waiting = set(range(len(drivers))) - {0}
    for i in waiting:
        drivers[i].tell("A")

    def once():
        nonlocal holder
        time.sleep(random_source.uniform(*WAITED_S))
        drivers[holder].tell("R")
        release = drivers[holder].line().split()
        until = time.monotonic() + 30
        before, holder = holder, None
        while holder is None and (i := whose_line(drivers, waiting, until)) is not None:
            answer = drivers[i].line().split()
            if answer[1] == "0":  # it waited for so long that it gave up
                luck["gave_up"] += 1
                drivers[i].tell("A")
                continue
            waiting.discard(i)
            holder = i
            times.append((int(answer[3]) - int(release[2])) / 1e3)
            luck["round_trips"].append((int(release[3]) - int(release[2])) / 1e3)
            luck["held"][i] += 1
            drivers[before].tell("A")
            waiting.add(before)
        return holder is not None
    return once


def quiet_release_us(run, nodes):
    """The bound, while nobody else wants anything."""
    driver = run.peers["floor"].start("times", nodes.ports, prefix="quiet", workers=1)
    ready({"floor": driver})
    batch = json.loads(driver.ask(QUIET_PAIRS))
    driver.end()
    return figures.median(batch["release_us"])


def one_peer(run, peer, nodes, processes, handovers):
    drivers = [peer.start("serve", nodes.ports, prefix=peer.name) for _ in range(processes)]
    ready({f"{peer.name} {i}": driver for i, driver in enumerate(drivers)})
    settle()
    times, luck = [], {"gave_up": 0, "round_trips": [], "held": [0] * processes}
    nodes_before = nodes.requests()
    once = hand_over(drivers, times, luck, random.Random(processes))
    while len(times) < handovers and once():
        pass
    requests = nodes.requests() - nodes_before
    for driver in drivers:
        driver.end()
    nodes.forget(peer.name)
    return times, luck, requests


def handover(run):
    nodes = Nodes(5)
    peers = {**{name: run.peers[name] for name in NAMES[:run.most]}, **run.npm.peers()}
    points = []
    for processes in ((2, 8) if run.quick else PROCESSES)[:run.most]:
        members, progress = [], run.progress(f"{processes} processes")
        bound_us = quiet_release_us(run, nodes)
        for i, (name, peer) in enumerate(peers.items()):
            times, luck, requests = one_peer(run, peer, nodes, processes, max(2, round(HANDOVERS * run.rounds * run.scale)))
            members.append({**peer.described(), **as_peer(name), "handover_us": figures.spread(times),
                            "distribution": figures.distribution(times), "gave_up": luck["gave_up"],
                            "release_us": figures.median(luck["round_trips"]), "held": luck["held"],
                            "requests": requests / max(1, len(times))})
            progress(i + 1, len(peers))
        points.append({"processes": processes, "bound_us": bound_us, "members": members})
    nodes.stop()
    return {"nodes": 5, "points": points, "left_out": run.npm.missing}
