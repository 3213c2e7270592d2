"""Makes up runs as chaos/run would leave them, for the tests of the page: all kinds of events, of any length, by seed.

Not a simulation: waits and holds are drawn at random around what real runs show, faults come in turn, and where a series
is to have overlaps, a second claim is put over the first and written into the verdict. Odd files come on request.
"""

import json
import os
import random

SECOND = 1_000_000
FAULTS = (
    ("kill_restart_memory", "kill -9, started again with its memory", "down", 1),
    ("kill_restart_empty", "kill -9, started again empty", "down", 1),
    ("stop", "SIGSTOP for longer than the ttl", "stopped", 1),
    ("partition_minority", "cut off from the clients", "cut", 2),
    ("reply_lost", "takes writes, but its replies are lost", "cut", 1),
    ("delay", "40 ms ± 20 ms and 5 % loss", "up", 1),
    ("failover_stale", "a replica that is behind is promoted and takes the address", "down", 1),
    ("flushall", "FLUSHALL: forgets everything at once", "settling", 1),
    ("client_killed", "kill -9", "up", 0),
    ("client_stopped", "SIGSTOP past its ttl", "up", 0),
    ("partition_majority", "cut off from the clients", "cut", 3),
)


class Run:
    """A run directory in `folder`; add series, then close()."""

    def __init__(self, folder, seed=1, nodes=5, labels=None):
        self.folder, self.random, self.began = folder, random.Random(seed), 5_000_000_000
        self.t = self.began
        self.nodes = [{"id": number, "label": (labels or {}).get(number, f"node {number + 1}"),
                       "address": f"10.77.0.{11 + number}:6379"} for number in range(nodes)]
        self.series = []
        self.seed = seed
        os.makedirs(os.path.join(folder, "series"), exist_ok=True)

    def add(self, ident, title, expect, **options):
        series = Series(self, ident, expect, **options)
        self.series.append({"id": ident, "title": title, "expect": expect})
        series.make()
        self.t = series.end + 2 * SECOND
        return series

    def close(self, **more):
        run = {"seed": self.seed, "mode": "containers", "began_us": self.began, "ended_us": self.t,
               "wall_began": "2026-03-01T10:00:00Z", "nodes": self.nodes, "command": f"chaos/run --seed {self.seed}",
               "versions": {"redlock": "1.0.0", "redis": "7.0.15"}, "series": self.series, **more}
        with open(os.path.join(self.folder, "run.json"), "w", encoding="utf-8") as file:
            json.dump(run, file)


class Series:
    def __init__(self, run, ident, expect, sections=1200, workers=3, threads=4, names=("stock-1", "stock-2", "invoice"),
                 overlaps=0, inversions=0, validity=0, stalls=0, guard=True, client="redlock", faults=FAULTS, torn=False,
                 verdict=True, left=()):
        self.run, self.ident, self.expect, self.random = run, ident, expect, run.random
        self.workers, self.threads, self.names, self.guard, self.client = workers, threads, names, guard, client
        self.began, self.faults, self.torn, self.with_verdict, self.left = run.t, faults, torn, verdict, list(left)
        self.wanted = {"overlaps": overlaps, "inversions": inversions, "validity": validity, "stalls": stalls}
        # As many sections as wanted: each lock is taken about every 18 ms, and faults stretch that.
        self.span = max(12 * SECOND, int(sections / len(names) * 21_000))
        self.end = self.began + self.span + 2 * SECOND
        self.events = {f"w{number + 1}": [] for number in range(workers)}
        self.harness = []
        self.claims = []
        self.bands = []
        self.count = {worker: 0 for worker in self.events}

    def make(self):
        for worker, events in self.events.items():
            events.append({"t": self.began, "e": "worker", "w": worker, "pid": self.random.randrange(300, 9000),
                           "client": self.client, "guard": self.guard, "fencing": self.guard, "threads": self.threads,
                           "ttl_us": 2 * SECOND})
        self.make_faults()
        lanes = [(f"{worker}.{thread}") for worker in self.events for thread in range(self.threads)]
        self.random.shuffle(lanes)
        for number, name in enumerate(self.names):  # each lock has lanes of its own, so that a lane does one thing at a time
            self.make_sections(name, lanes[number::len(self.names)] or lanes[:1])
        self.put_violations()
        self.write()

    # -- faults

    def make_faults(self):
        self.node(self.began, *((number, "up") for number in range(len(self.run.nodes))))
        self.quorum(self.began, 5)
        rounds = max(1, round(self.span / (len(self.faults) * 9 * SECOND)))
        gap = self.span / (rounds * len(self.faults) + 1)
        for number in range(rounds * len(self.faults)):
            kind, says, state, nodes = self.faults[number % len(self.faults)]
            begin = int(self.began + gap * (number + 0.55))
            end = int(begin + gap * self.random.uniform(0.25, 0.5))
            if kind == "flushall":
                end = begin
            self.make_fault(f"f{number + 1}", kind, says, state, nodes, begin, end)

    def make_fault(self, ident, kind, says, state, count, begin, end):
        hit = sorted(self.random.sample(range(len(self.run.nodes)), count))
        clients = [self.random.choice(list(self.events))] if not count else []
        who = ", ".join([self.run.nodes[node]["label"] for node in hit] + clients)
        says = f"{who}: {says}"
        self.harness.append({"t": begin - 50_000, "e": "scenario", "scenario": kind.replace("_", "-"), "title": says, "what": "begin"})
        self.harness.append({"t": begin, "e": "fault", "id": ident, "kind": kind, "nodes": hit, "clients": clients,
                             "what": "begin", "says": says})
        self.harness.append({"t": end, "e": "fault", "id": ident, "what": "end",
                             "proof": f"run_id {self.random.randrange(16**6):06x}… → {self.random.randrange(16**6):06x}…"})
        self.harness.append({"t": end + 800_000, "e": "scenario", "scenario": kind.replace("_", "-"), "what": "end"})
        self.bands.append((begin, end, kind, ident, len(hit) if state != "up" else 0))
        if hit and state != "up":
            self.node(begin, *((node, state) for node in hit))
            self.quorum(begin, 5 - len(hit))
            healed = end
            if state in ("down", "settling") and self.guard:
                self.node(end, *((node, "settling", "master") for node in hit))
                healed = end + 600_000
            self.node(healed, *((node, "up") for node in hit))
            self.quorum(healed, 5)
        for client in clients:
            what = "died" if kind == "client_killed" else "stopped"
            self.harness.append({"t": begin, "e": what, "w": client})
            if what == "stopped":
                self.harness.append({"t": end, "e": "continued", "w": client})

    def node(self, t, *changes):
        for node, state, *role in changes:
            self.harness.append({"t": t, "e": "node", "node": node, "state": state, "role": role[0] if role else "master"})

    def quorum(self, t, ready):
        self.harness.append({"t": t, "e": "quorum", "ready": ready})

    def down_at(self, t):
        return next(((end, kind, count) for begin, end, kind, _, count in self.bands if begin <= t < end), None)

    # -- sections

    def make_sections(self, name, lanes):
        t, fence, turn = self.began + 20_000, 1000, 0
        while t < self.began + self.span:
            lane = lanes[turn % len(lanes)]
            turn += 1
            fault = self.down_at(t)
            if fault and fault[2] >= 3:  # no quorum
                self.failed(name, lane, t, min(int(self.random.uniform(50_000, 200_000)), fault[0] - t + 5_000))
                t += int(self.random.uniform(60_000, 210_000))
                continue
            wait = int(self.random.lognormvariate(7.4, 0.5) * (6 if fault else 1))
            if fault and fault[1] == "delay":
                wait += 40_000
            granted = t + wait
            held = int(self.random.lognormvariate(9, 0.6))
            fence += 1
            self.section(name, lane, t, granted, held, fence)
            t = granted + held + self.random.randrange(500, 3_000)

    def next_id(self, lane):
        worker = lane.split(".")[0]
        self.count[worker] += 1
        return worker, self.count[worker]

    def failed(self, name, lane, t, took):
        worker, ident = self.next_id(lane)
        self.events[worker] += [{"t": t, "e": "wait", "w": lane, "id": ident, "name": name},
                                {"t": t + took, "e": "fail", "w": lane, "id": ident, "name": name, "error": "no_quorum"}]

    def section(self, name, lane, t, granted, held, fence):
        worker, ident = self.next_id(lane)
        add = self.events[worker].append
        same = {"w": lane, "id": ident}
        until = granted + 1_960_000
        grant = {"t": granted, "e": "grant", **same, "name": name, "token": f"{self.random.randrange(16**8):08x}", "until": until}
        add({"t": t, "e": "wait", **same, "name": name})
        add({**grant, "fence": fence} if self.guard else grant)
        if held > 30_000:
            add({"t": granted + held // 2, "e": "extend", **same, "until": until + held // 2})
        for to in ("plain", "fenced"):
            add({"t": granted + held // 3, "e": "write", **same, "name": name, "to": to, "ok": True, "seen": "w1.0:1"})
        end = granted + held
        lost = self.random.random() < 0.002
        if lost:
            add({"t": end, "e": "lost", **same})
            add({"t": end + 9_000, "e": "write", **same, "name": name, "to": "plain", "ok": True, "seen": ""})
            add({"t": end + 9_500, "e": "write", **same, "name": name, "to": "fenced", "ok": False, "seen": ""})
        add({"t": end + 9_900, "e": "release", **same} if lost else {"t": end, "e": "release", **same})
        add({"t": end + 11_000, "e": "released", **same, "result": "released"})
        self.claims.append({"w": lane, "id": ident, "granted": granted, "end": end, "name": name, "fence": fence})

    # -- verdict

    def put_violations(self):
        """Overlaps get a second claim of their own, in a lane that no other section uses."""
        self.found = {"overlaps": [], "inversions": [], "validity": [], "stalls": []}
        for number in range(self.wanted["overlaps"]):
            first = dict(self.random.choice(self.claims))
            lane = f"{list(self.events)[number % self.workers]}.{self.threads}"
            begin = first["granted"] + (first["end"] - first["granted"]) // 4
            self.section(first["name"], lane, begin - 900, begin, (first["end"] - begin) * 2, first["fence"] + 1)
            second = dict(self.claims.pop())
            fault = next((ident for start, end, _, ident, _ in self.bands if start <= begin <= end + SECOND), None)
            self.found["overlaps"].append({"name": first["name"], "from": begin, "to": min(first["end"], second["end"]),
                                           "first": first, "second": second, "fault": fault})
        for _ in range(self.wanted["inversions"]):
            first, second = self.random.sample(self.claims, 2)
            self.found["inversions"].append({"name": first["name"], "first": first, "second": second})
        for _ in range(self.wanted["validity"]):
            claim = self.random.choice(self.claims)
            self.found["validity"].append({"what": "claimed beyond T0 + ttl", "w": claim["w"], "id": claim["id"]})
        for _ in range(self.wanted["stalls"]):
            begin = int(self.began + self.random.random() * self.span)
            self.found["stalls"].append({"name": self.names[0], "from": begin, "to": begin + 4 * SECOND})

    def verdict(self):
        bad = bool(self.left) or any(self.found[field] for field in ("overlaps", "inversions", "validity"))
        expected = {"clean": not bad, "overlaps": bool(self.found["overlaps"]), "broken": bad,
                    "shown": True}[self.expect]
        rates = {"per_s": 148.0, "wait_p50_us": 1650, "wait_p99_us": 6200}
        slow = {"per_s": 96.5, "wait_p50_us": 9900, "wait_p99_us": 61000}
        return {
            "expect": self.expect, "as_expected": expected, "sections": len(self.claims), "grants": len(self.claims),
            "fails": {"no_quorum": sum(event["e"] == "fail" for events in self.events.values() for event in events)},
            "workers": self.workers, **self.found, "leftovers": self.left,
            "stale_writes": {"plain": 3, "fenced_refused": 2 if self.guard else 0, "fenced_accepted": 0},
            "longest_stall_us": 412_000,
            "phases": [{"scenario": kind.replace("_", "-"), "fault": ident, "before": rates, "during": slow, "after": rates,
                        "first_grant_after_heal_us": 31_000} for _, _, kind, ident, _ in self.bands],
            "availability": [{"fault": ident, "nodes_down": count, "tried": 500, "granted_within_3x_median": 498}
                             for _, _, _, ident, count in self.bands if count == 2],
            "faults": [{"id": ident, "kind": kind, "proof": "run_id changed", "ok": True} for _, _, kind, ident, _ in self.bands],
            "problems": []}

    def write(self):
        folder = os.path.join(self.run.folder, "series", self.ident)
        os.makedirs(os.path.join(folder, "events"))
        self.harness.append({"t": self.end, "e": "keys", "left": self.left})
        for name, events in {**self.events, "harness": self.harness}.items():
            events.sort(key=lambda event: event["t"])
            with open(os.path.join(folder, "events", f"{name}.jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
                if self.torn and name == "w1":
                    file.write('{"t":99,"e":"wai')
        if self.with_verdict:
            with open(os.path.join(folder, "verdict.json"), "w", encoding="utf-8") as file:
                json.dump(self.verdict(), file)
