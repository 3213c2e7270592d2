"""chaos/run: hurts five Redis nodes in every way that a data centre does while the library works on them, and
judges the history. Exit codes: 0 as expected, 1 not, 64 usage, 65 no run to make a table of, 69 something is missing,
70 something broke besides the library, 130 interrupted."""
import argparse
import asyncio
import datetime
import json
import os
import random
import shlex
import sys
import tempfile
from pathlib import Path

from . import settings as figures
from .adapters import install
from .chaos import Chaos
from .child import Broken, Failed, need, output, until_told
from .containers import Containers
from .faults import KINDS
from .node import Node
from .poller import Poller
from .processes import Processes
from .programs import find_programs
from .scenarios import SCENARIOS
from .resp import RedisError
from .sentinels import SENTINEL_SCENARIOS, Sentinels
from .series import ALL, Runner, chosen
from .terminal import Terminal
from .table import print_table
from .watcher import PREFIX, Watcher, sweep
from .workers import Workers

ROOT = Path(__file__).resolve().parents[2]
MOST_HOURS, MOST_SEED = 10000, (1 << 31) - 1


class Usage(argparse.ArgumentParser):
    def error(self, message):
        print(f"chaos/run: {message}; see chaos/run --help", file=sys.stderr)
        sys.exit(64)


def arguments(argv):
    parser = Usage(prog="chaos/run", description="Hurts five Redis nodes and judges what the library did. "
                   "Exits 0 when everything came out as expected, 1 when not.")
    parser.add_argument("--list", action="store_true", help="explain every fault, scenario and series, a line each")
    parser.add_argument("--seed", type=int, help="order, nodes and times (random; it is printed)")
    parser.add_argument("--processes", action="store_true", help="plain redis-server processes instead of containers")
    parser.add_argument("--suite", choices=["short", "long"], default="short", help="how long faults last (short)")
    parser.add_argument("--hours", type=float, default=0, help="repeat the guarded series' scenarios for so long")
    parser.add_argument("--scenario", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--series", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the run's folder (build/chaos/TIME-SEED)")
    parser.add_argument("--build", type=Path, metavar="DIR", help="where the programs were built (the newest of build/*)")
    parser.add_argument("--table", type=Path, metavar="DIR", help="only print the table of a run that is over, in Markdown")
    parser.add_argument("--json", action="store_true", help="the summary as JSON on standard output")
    args = parser.parse_args(argv)
    for name in args.scenario:
        if name not in {**SCENARIOS, **SENTINEL_SCENARIOS}:
            parser.error(f"--scenario: there is no '{name}'; chaos/run --list names them")
    for name in args.series:
        if name not in {s.id for s in ALL}:
            parser.error(f"--series: there is no '{name}'; chaos/run --list names them")
    if args.out and args.out.exists():
        parser.error(f"--out: {args.out} is there already")
    if not 0 <= args.hours <= MOST_HOURS:
        parser.error(f"--hours: a number from 0 to {MOST_HOURS}")
    if args.seed is not None and not 0 <= args.seed <= MOST_SEED:
        parser.error(f"--seed: a whole number from 0 to {MOST_SEED}")
    if args.scenario and not any(name in series.scenarios for series in chosen(args.series) for name in args.scenario):
        parser.error("--scenario: none of the chosen series has one of these")
    return args


def explain():
    scenarios = {name: title for name, (title, _) in {**SCENARIOS, **SENTINEL_SCENARIOS}.items()}
    for title, lines in (("faults", KINDS), ("scenarios", scenarios),
                         ("series", {s.id: f"{s.title} ({s.expect})" for s in chosen([])})):
        print(f"{title}:")
        for name, line in lines.items():
            print(f"  {name:<26} {line}")


async def versions(programs):
    redlock = (await output([programs["redlock"], "--version"])).split()[-1]
    redis = (await output(["redis-server", "--version"])).split("v=")[1].split()[0]
    return {"redlock": redlock, "redis": redis}


async def left_out(series, build, adapters):
    """Why a series cannot be run here; None if it can."""
    try:
        if series.adapter:
            adapters[series.adapter] = await install(series.adapter, build)
    except Failed as fault:
        return str(fault)
    return None


async def deploy(args, s, programs, place, watcher):
    deployment = (Processes if args.processes else Containers)(place, programs["clock_shim"])
    await deployment.open(watcher)
    registers = Processes(place, None).server("registers")
    registers.configure(append_only=False)
    await registers.start()
    await registers.wait_up()
    nodes = [Node(i, deployment, programs["chaos_proxy"], s.doors, s.seed) for i in range(5)]
    await asyncio.gather(*(n.start() for n in nodes))
    c = Chaos(deployment, nodes, Workers(nodes, registers, programs, s), Poller(), s, programs)
    c.sentinels = Sentinels(deployment)
    return c


async def run(args, place, watcher):
    for program in ("redis-server", "setpriv"):
        need(program, "'scripts/setup chaos' installs it")
    wanted = chosen(args.series)
    build, programs = find_programs(ROOT, args.build, wanted)
    adapters, skipped, terminal = {}, {}, Terminal()
    for series in wanted:
        if why := await left_out(series, build, adapters):
            if args.series:
                raise Failed(f"{series.id}: {why}")
            skipped[series.id] = why
    s = figures.long(args.seed, args.hours) if args.suite == "long" or args.hours else figures.short(args.seed)
    c = await deploy(args, s, programs, place, watcher)
    c.workers.adapters = adapters
    began, wall = c.now_us(), datetime.datetime.now(datetime.timezone.utc)
    out = args.out or ROOT / "build" / "chaos" / f"{wall:%Y%m%dT%H%M%S}-{s.seed}"
    out.mkdir(parents=True)
    terminal.say(f"seed {s.seed}, {c.deployment.mode}; everything goes to {out}")
    runner, verdicts = Runner(c, programs, terminal, out), {}
    record = {"seed": s.seed, "mode": c.deployment.mode, "began_us": began, "ended_us": None,
              "wall_began": f"{wall:%Y-%m-%dT%H:%M:%SZ}",
              "nodes": [{"id": n.id, "label": n.label, "address": n.master.address} for n in c.nodes],
              "command": args.command, "versions": await versions(programs), "series": [],
              "left_out": skipped}
    for series in wanted:
        if series.id in skipped:
            terminal.say(f"{series.id}: left out: {skipped[series.id]}")
            continue
        if args.scenario and not runner.names(series, args.scenario):
            continue
        until = began + int(args.hours * 3600e6) if series.id == "guarded" else 0
        record["series"].append({"id": series.id, "title": series.title, "expect": series.expect})
        terminal.series(series)
        verdict = await runner.run(series, args.scenario, until if args.hours else 0)
        verdict["ok"] = verdict["as_expected"] and not verdict["problems"]
        terminal.verdict(series, verdict)
        verdicts[series.id] = verdict
        record["ended_us"], record["series"][-1]["problems"] = c.now_us(), verdict["problems"]
        (out / "run.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    await report(out, terminal)
    if args.json:
        print(json.dumps({**record, "out": str(out), "verdicts": verdicts}))
    return 0 if verdicts and all(v["ok"] for v in verdicts.values()) else 1


async def report(out, terminal):
    try:
        await output([ROOT / "chaos/report/make", out], timeout=300)
        terminal.say(f"the report: {out}/report.html")
    except Failed as fault:
        terminal.say(f"no report: {fault}")


def main(argv):
    args = arguments(argv)
    if args.list:
        explain()
        return 0
    if args.table:
        return print_table(args.table)
    if args.seed is None:
        args.seed = random.randrange(1, MOST_SEED + 1)
        argv = [*argv, "--seed", str(args.seed)]  # who runs it again wants the same
    args.command = shlex.join(["chaos/run", *argv])
    sweep(Path(tempfile.gettempdir()))
    place = Path(tempfile.mkdtemp(prefix=PREFIX))
    os.chmod(place, 0o755)
    watcher = Watcher(place)
    watcher.tell(remove=str(place))
    try:
        return asyncio.run(until_told(run(args, place, watcher)))
    except Failed as fault:
        Terminal().say(f"chaos/run: {fault}")
        return 69
    except (Broken, RedisError, OSError) as fault:
        Terminal().say(f"chaos/run: stopped: {fault}")
        return 70
    except asyncio.CancelledError:
        Terminal().say("chaos/run: stopped; everything is being cleaned up")
        return 130
    finally:
        watcher.clean()
