"""bench/run: measures and writes results.json and report.html. Exit codes: 0 measured, 1 a promise was missed, 64 usage, 69
something is missing or broke, 130 interrupted."""
import argparse
import datetime
import json
import shlex
import signal
import sys
from pathlib import Path

from . import machine
from .peers import Npm, loop_peers
from .processes import STOPS, Failed, end_all, need, output
from .progress import Progress
from .promises import PROMISES
from .sets import BUNDLES, SETS, explain, names_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"bench_redlock": "bench/bench_redlock", "bench_delay_proxy": "bench/bench_delay_proxy",
            "bench_core": "bench/bench_core"}
QUICK_ROUNDS = 4
WITH_PEERS = {"latency", "throughput", "handover", "contention"}


class Run:
    """What a set needs to know."""

    def __init__(self, args, programs, npm, progress):
        self.programs, self.npm = programs, npm
        # A trial is to come to its end on a machine that stands still for a second, too.
        self.peers = loop_peers(programs["bench_redlock"], timeout_ms=2000 if args.brief else 0)
        self.quick = args.set == "quick" or args.brief
        self.brief = args.brief
        self.scale = 0.02 if args.brief else 1  # of how much is done
        self.most = 2 if args.brief else None   # of cases
        self.only = args.only
        self.say, self.progress = progress.say, progress.of
        self.rounds = 1


class Usage(argparse.ArgumentParser):
    def error(self, message):
        print(f"bench/run: {message}; see bench/run --help", file=sys.stderr)
        sys.exit(64)


def arguments(argv):
    parser = Usage(prog="bench/run", description="Measures the library against its bounds and peers in one run, and draws what "
                   "was measured.")
    parser.add_argument("set", nargs="?", choices=[*BUNDLES, *SETS], help="what to measure; --list says more")
    parser.add_argument("--list", action="store_true", help="explain every set, a line each")
    parser.add_argument("--rounds", type=int, help="turns of each client in each comparison")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where results go (build/bench/TIME)")
    parser.add_argument("--build", type=Path, metavar="DIR", help="where the programs were built (build/release)")
    parser.add_argument("--json", action="store_true", help="the results on standard output, too")
    parser.add_argument("--only", choices=PROMISES, help="of the promises, this one")
    parser.add_argument("--no-npm", action="store_true", help="leave the clients from npm out")
    parser.add_argument("--brief", action="store_true", help="tiny counts: shows that everything runs, and measures nothing")
    args = parser.parse_args(argv)
    if not args.set and not args.list:
        parser.error("a set is needed")
    if args.rounds is not None and args.rounds < 1:
        parser.error("--rounds: at least one")
    if args.set and args.only and "promises" not in names_of(args.set):
        parser.error(f"--only: {args.set} measures no promises; bench/run promises --only {args.only}")
    if args.out and args.out.exists() and not args.out.is_dir():
        parser.error(f"--out: {args.out} is not a folder")
    return args


def find_programs(build):
    found = {name: build / path for name, path in PROGRAMS.items()}
    for name, path in found.items():
        if not path.exists():
            raise Failed(f"{path} is missing; 'cmake --preset release && cmake --build --preset release --target "
                         f"{' '.join(PROGRAMS)}' builds it")
    return found


def rounds_of(args, usual):
    if args.rounds:
        return args.rounds
    return 1 if args.brief else min(usual, QUICK_ROUNDS) if args.set == "quick" else usual


def measure(args):
    for program in ("redis-server", "setpriv", "openssl"):
        need(program, "'scripts/setup bench' installs it")
    build = args.build or ROOT / "build" / "release"
    programs, progress = find_programs(build.resolve()), Progress()
    names = names_of(args.set)
    npm = Npm(ROOT / "bench", build / "bench-npm", wanted=not args.no_npm and set(names) & WITH_PEERS)
    if npm.missing:
        progress.say(f"without clients from npm: {npm.missing}")
    run, began = Run(args, programs, npm, progress), datetime.datetime.now(datetime.timezone.utc)
    out = args.out or ROOT / "build" / "bench" / f"{began:%Y%m%dT%H%M%S}-{args.set}"
    out.mkdir(parents=True, exist_ok=True)
    record = {"format": 1, "began": f"{began:%Y-%m-%dT%H:%M:%SZ}", "command": shlex.join(["bench/run", *sys.argv[1:]]),
              **machine.facts(ROOT, build), "brief": args.brief, "sets": {}}
    if record["versions"]["build"] != "Release":
        progress.say(f"this build is {record['versions']['build']}: its times are not those of a release")
    for name in names:
        title, how, usual = SETS[name]
        run.rounds = rounds_of(args, usual)
        progress.say(f"{name}: {title} ({run.rounds} rounds)")
        record["sets"][name] = {"rounds": run.rounds, **how(run)}
        record["seconds"] = round((datetime.datetime.now(datetime.timezone.utc) - began).total_seconds())
        (out / "results.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    draw(out, progress)
    if args.json:
        print(json.dumps(record))
    return args.brief or all(row["holds"] for row in record["sets"].get("promises", {}).get("rows", []))


def draw(out, progress):
    """What was measured stands without a page, too."""
    try:
        output([ROOT / "bench/report/make", out / "results.json"], timeout=120)
        progress.say(f"{out}/report.html")
    except Failed as fault:
        progress.say(f"no page of {out}/results.json: {fault}")


def on_stop(what):
    for one in STOPS:
        signal.signal(one, what)


def not_now(*_):
    """Cleaning up is not to be interrupted by an impatient second. SIG_IGN complains of one that has just come."""


def interrupted(*_):
    on_stop(not_now)
    raise KeyboardInterrupt


def main(argv):
    args = arguments(argv)
    if args.list:
        explain()
        return 0
    on_stop(interrupted)
    try:
        try:
            return 0 if measure(args) else 1
        finally:
            on_stop(not_now)
            end_all()  # before the last word, which is then the last line whatever else was complaining
    except (Failed, OSError) as fault:
        Progress().say(f"bench/run: {fault}")
        return 69
    except KeyboardInterrupt:
        Progress().say("bench/run: stopped")
        return 130
