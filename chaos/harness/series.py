"""The series of a run: who is hurt, how, and what has to come out. The controls are as important as the guarded
one: a judge that finds nothing in them would find nothing anywhere."""
import asyncio
import json
from dataclasses import dataclass, field

from .child import Broken, output, spawn
from .sentinels import SENTINEL_SCENARIOS
from .scenarios import CONTROLS, LONG_ONLY, SCENARIOS

MEMORY = ["all-empty", "flushall", "rolling-fast", "restart-empty-two", "restart-old"]
# More leases that are held when a node forgets them.
PLAIN = ["--no-guard", "--hold-max", "300ms", "--long-percent", "10"]


@dataclass
class Series:
    id: str
    title: str
    expect: str  # clean: no fault may be found; overlaps: some must be; shown: whatever is found is shown
    scenarios: list = field(default_factory=lambda: list(SCENARIOS))
    guard: bool = True
    rounds: int = 1
    worker: str = "chaos_worker"
    worker_options: list = field(default_factory=list)
    single: bool = False     # one node instead of five
    adapter: str = ""        # a folder in chaos/adapters: another client
    near: bool = False       # the nodes are as near as loopback is
    sentinels: bool = False  # clients know the nodes by them alone


ALL = [
    Series("guarded", "guarded and fenced, every fault", "clean"),
    Series("sentinel", "guarded and fenced, every node a master behind Sentinels", "clean", list(SENTINEL_SCENARIOS),
           sentinels=True),
    Series("plain-memory", "plain Redlock, nodes lose their memory", "overlaps", MEMORY, guard=False, rounds=12, worker_options=PLAIN),
    Series("plain-one-node", "plain, on one node that fails over to a stale replica", "overlaps", ["failover-stale"],
           guard=False, rounds=12, worker_options=PLAIN, single=True),
    Series("broken-quorum", "a client to which one vote less than a majority is enough", "overlaps", ["busy"],
           rounds=6, worker="chaos_worker_q_minus_1"),
    Series("broken-drift", "a client that allows for no drift of clocks", "overlaps", ["fast-clocks"], guard=False,
           rounds=24, worker="chaos_worker_no_drift", worker_options=["--no-guard"], near=True),
    Series("npm-redlock", "the npm package redlock, nodes lose their memory", "shown", [*MEMORY, "stop-long", "client-stopped"],
           guard=False, worker_options=[*PLAIN, "--no-fencing"], adapter="npm-redlock"),
]


def chosen(ids):
    return [s for s in ALL if s.id in ids] if ids else ALL


class Runner:
    def __init__(self, c, programs, terminal, out):
        self.c, self.programs, self.terminal, self.out = c, programs, terminal, out

    async def run(self, series, only, until_us):
        """The verdict of one series, with what the harness itself has to complain about."""
        c, folder = self.c, self.out / "series" / series.id
        folder.mkdir(parents=True)
        c.begin_series(folder)
        c.reseed(series.id, "workers")
        nodes = c.nodes
        if series.single:
            c.use_nodes(nodes[:1])
        await self.fresh(series)
        c.poller.begin(c.events, series.guard, c.nodes)
        await c.workers.begin(series, folder)
        try:
            await c.ready()
            await self.wait_grants(folder)
            await asyncio.sleep(c.settings.before_s)
            await self.scenarios(series, only, until_us, folder)
        finally:
            c.use_nodes(nodes)
            ended = await c.workers.finish()
            for fault in ended:
                c.problem(fault)
        await asyncio.sleep(c.settings.ttl_s * 1.1)
        await self.look_for_keys()
        await c.poller.stop()
        await c.sentinels.stop()
        c.events.close()
        return await self.judge(series, folder)

    def names(self, series, only):
        if only:
            return [n for n in series.scenarios if n in only]
        return [n for n in series.scenarios if self.c.settings.long or series.id != "guarded" or n not in LONG_ONLY]

    async def wait_grants(self, folder):
        for _ in range(300):
            self.c.workers.look()
            if self.terminal.count(folder):
                return
            await asyncio.sleep(0.1)
        said = self.c.workers.running[0].said()
        raise Broken(f"the workers got no lock within 30 s though nothing is wrong yet; the first one said: {said}")

    async def scenarios(self, series, only, until_us, folder):
        c = self.c
        names = self.names(series, only)
        turn = 0
        while turn < series.rounds or (until_us and c.now_us() < until_us and names):
            c.reseed("order", turn)
            for name in c.random.sample(names, len(names)):
                if until_us and turn >= series.rounds and c.now_us() >= until_us:
                    break
                title, body = {**SCENARIOS, **CONTROLS, **SENTINEL_SCENARIOS}[name]
                c.reseed(name, turn)
                before = len(c.problems)
                self.terminal.begin(series, name, folder)
                c.events.write("scenario", scenario=name, title=title, what="begin")
                await body(c)
                await c.ready()
                c.events.write("scenario", scenario=name, title=title, what="end")
                await asyncio.sleep(c.settings.after_s)
                c.workers.look()
                self.terminal.end(c.problems[before:])
            turn += 1
            # A control has shown what it can as soon as it was caught.
            if series.expect == "overlaps" and (await self.judge(series, folder, "--so-far"))["overlaps"]:
                return

    async def fresh(self, series):
        """Every node as if it were new; a guarded deployment is marked ready by its operator, as for users."""
        c = self.c
        c.true_clocks()
        for node in c.nodes:
            await node.make_new()
            delay = (0, 0) if series.near else (c.settings.usual_delay_us, c.settings.usual_jitter_us)
            await node.tell(f"usual {delay[0]} {delay[1]}")
        c.workers.other_urls = ""
        if series.sentinels:
            await c.sentinels.start(c.nodes)
            c.workers.other_urls = c.sentinels.urls(c.nodes)
        if series.guard:
            await output([self.programs["redlock"], "--nodes", c.workers.urls(0), "--max-ttl",
                          f"{round(c.settings.max_ttl_s * 1000)}ms", "--deployment", "chaos", "init", "--force", "--yes"])

    async def look_for_keys(self):
        """After everybody finished and a ttl has passed, no lock may be left."""
        left = []
        for node in self.c.nodes:
            keys = await node.master.redis.call("KEYS", "lock:*", timeout=10)
            left += [f"{key} on {node.label}" for key in keys]
        self.c.events.write("keys", left=left)

    async def judge(self, series, folder, *options):
        process = await spawn([self.programs["chaos_judge"], folder, "--expect", series.expect, *options],
                              stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        _, said = await process.communicate()
        try:
            verdict = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            last = said.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
            raise Broken(f"chaos_judge gave no verdict of {series.id}; it said: {last[0]}") from None
        # Of a fault without proof the judge only knows that there was none.
        verdict["problems"] = self.c.problems or verdict.get("problems", [])
        verdict["harness_faults"] = self.c.faults
        return verdict
