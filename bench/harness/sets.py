"""What can be measured, by the names that bench/run takes."""
from .contention import contention
from .core import core
from .handover import handover
from .holding import holding
from .latency import latency
from .promises import promises
from .throughput import throughput
from .waiting import waiting

# name: (what is measured, how, rounds)
SETS = {
    "latency": ("acquire and release: 1 to 7 nodes, 0 to 10 ms away, every face and kind, nodes out", latency, 20),
    "throughput": ("locks per second of 1 to 1024 workers on names of their own", throughput, 10),
    "handover": ("from a release to the next holder, 2 to 16 processes", handover, 8),
    "contention": ("one lock, processes and workers: waits, requests, shares", contention, 12),
    "holding": ("10 000 leases under the watchdog: memory, processor time, punctuality", holding, 1),
    "waiting": ("200 calls that wait for a lock that is held: processor time, requests", waiting, 1),
    "core": ("machines and codec without any node: ns, allocations, MB/s", core, 5),
    "promises": ("the promised ratios, with their bounds; the exit code is theirs", promises, 5),
}
BUNDLES = {
    "quick": ("a small part of every set but promises, in about two minutes", [name for name in SETS if name != "promises"]),
    "all": ("every set in full", list(SETS)),
}


def names_of(chosen):
    return BUNDLES[chosen][1] if chosen in BUNDLES else [chosen]


def explain():
    for title, lines in (("sets", SETS), ("bundles", BUNDLES)):
        print(f"{title}:")
        for name, (text, *_) in lines.items():
            print(f"  {name:<11} {text}")
