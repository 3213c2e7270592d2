"""Set `promises`: the ratios that docs/performance.md promises, each with its bound. The run's exit code is theirs. They are
of the client under all faces; the sets `latency` and `throughput` say what a face adds."""
import json
import time

from . import figures
from .clients import by_turns, middle, pair, ready, settle
from .nodes import Delay, Nodes
from .peers import GUARDED_TTL_MS
from .processes import Failed

DELAY_MS = 2


def acquire(batch):
    return middle(batch, "acquire")


def turns(run, peers, ports, rounds, pairs, measure):
    """`peers`: name of a client here -> kind of client. The median ratio of each to the first."""
    drivers = {name: run.peers[kind].start("times", ports, prefix=name, workers=1, warm=5, **options)
               for name, (kind, options) in peers.items()}
    ready(drivers)
    settle()
    batches = by_turns(drivers, rounds, lambda name: max(2, round(pairs * run.scale)), lambda *_: None)
    for driver in drivers.values():
        driver.end()
    first, *others = drivers
    base = [measure(batch) for batch in batches[first]]
    ratios = {name: figures.ratio([measure(batch) for batch in batches[name]], base) for name in others}
    for name in (name for name, ratio in ratios.items() if ratio is None):
        raise Failed(f"{name} and {first} had a lock in no batch, so there is nothing to compare")
    return ratios


def delay(run, nodes):
    proxy = Delay(run.programs["bench_delay_proxy"], DELAY_MS, nodes.ports)
    ratios = turns(run, {"floor": ("floor", {}), "again": ("floor", {}), "redlock": ("bare", {})}, proxy.ports,
                   run.rounds * 4, 20, acquire)
    proxy.stop()
    return ratios["redlock"], f"noise {ratios['again']:.3f}"


def tput(run, nodes):
    rates = {"floor": [], "bare": []}
    for _ in range(run.rounds):
        for name, values in rates.items():
            driver = run.peers[name].start("tput", nodes.ports, prefix="t" + name, workers=64, n=round(64000 * run.scale))
            ready({name: driver})
            result = json.loads(driver.ask("GO"))
            driver.end()
            values.append(result["ops"] / result["wall"])
    ratio = figures.ratio(rates["bare"], rates["floor"])
    return ratio, f"{figures.median(rates['bare']):.0f} locks/s, floor {figures.median(rates['floor']):.0f}"


def guarded(run, ports, rounds, pairs, measure):
    plain = {"ttl": GUARDED_TTL_MS}
    ratios = turns(run, {f"plain{pairs}": ("bare", plain), f"again{pairs}": ("bare", plain),
                         f"guarded{pairs}": ("bare", {**plain, "guard": 1})}, ports, rounds, pairs, measure)
    return ratios[f"guarded{pairs}"], f"noise {ratios[f'again{pairs}']:.3f}"


def guard(run, nodes):
    return guarded(run, nodes.ports, run.rounds * 8, 200, pair)


def guard_delay(run, nodes):
    proxy = Delay(run.programs["bench_delay_proxy"], DELAY_MS, nodes.ports)
    found = guarded(run, proxy.ports, run.rounds * 4, 20, acquire)
    proxy.stop()
    return found


def fault_median(run, nodes, hurt):
    driver = run.peers["bare"].start("fault", nodes.ports, prefix="f", n=max(3, round(300 * run.scale)), warm=50)
    ready({"fault": driver})
    if hurt:
        nodes.kill(3)
        nodes.hang(1)
    time.sleep(0.1)
    driver.tell("GO")
    times = []
    while (line := driver.line()) != "DONE":
        times.append(float(line.split()[3]))
    driver.end()
    if hurt:
        nodes.go_on(1)
        nodes.start_again(3)
    return figures.median(times)


def fault(run, nodes):
    healthy, hurting = [], []
    for _ in range(run.rounds):
        healthy.append(fault_median(run, nodes, False))
        hurting.append(fault_median(run, nodes, True))
    return figures.ratio(hurting, healthy), f"{figures.median(hurting):.0f} us, healthy {figures.median(healthy):.0f} us"


# name: (how, the bound, what it says)
PROMISES = {
    "delay": (delay, "<=", 1.1, "2 ms each way to every node: acquire, against the floor"),
    "tput": (tput, ">=", 0.6, "64 workers on names of their own: locks per second, against the floor"),
    "guard": (guard, "<=", 1.25, "lock and release with the guard on loopback, against without"),
    "guard_delay": (guard_delay, "<=", 1.03, "acquire with the guard, 2 ms each way, against without"),
    "fault": (fault, "<=", 1.2, "one node dead and one hung: median acquire, against healthy nodes"),
}


def promises(run):
    nodes, rows = Nodes(5), []
    for name, (measure, relation, bound, title) in PROMISES.items():
        if run.only not in (None, name):
            continue
        ratio, beside = measure(run, nodes)
        holds = ratio <= bound if relation == "<=" else ratio >= bound
        rows.append({"name": name, "title": title, "ratio": ratio, "bound": f"{relation} {bound}", "holds": holds,
                     "beside": beside})
        run.say(f"  {name:<11} {ratio:6.3f}  {relation} {bound:<5} {'ok ' if holds else 'BAD'}  {beside}")
    nodes.stop()
    return {"rows": rows}
