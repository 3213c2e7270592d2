#!/usr/bin/env python3
"""Holds what the hot path costs to what was recorded, so that a change that spoils it is seen, and one that makes
it better is kept: allocations, readings of the clocks, bytes of a held lease, and (with valgrind) instructions.

usage: compare.py PROGRAM counts                  everything that any build counts alike
       compare.py PROGRAM instructions BUILD      BUILD names compiler and optimisation: others have other figures
       compare.py PROGRAM record BUILD            writes tests/cost/recorded.json anew

Exit code 1 if a figure moved, 77 if valgrind is not installed.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

RECORDED = pathlib.Path(__file__).with_name("recorded.json")
# How often each is run: what start and warming up cost is the same in both and falls out of the difference.
TIMES = {"plain": (100, 300), "guarded": (100, 300), "fenced": (100, 300), "crowd": (5, 15), "renewal": (1, 2)}
# Other processors take other versions of memcpy and memchr; the rest is exact.
TOLERANCE = {"instructions": 0.03, "bytes_per_lease": 0.03, "allocations": 0.0, "clock_readings": 0.0}


def counts(program, what):
    out = subprocess.run([program, what, str(TIMES[what][1])], check=True, capture_output=True, text=True).stdout
    figures = json.loads(out)
    del figures["times"]
    if what != "renewal":
        del figures["bytes_per_lease"]
    return figures


def instructions(program, what):
    def run(times):
        with tempfile.NamedTemporaryFile() as profile:
            done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile.name}", program, what,
                                   str(times)], check=True, capture_output=True, text=True)
        return int(re.search(r"Collected : (\d+)", done.stderr)[1]), json.loads(done.stdout)["times"]

    (few, few_times), (many, many_times) = run(TIMES[what][0]), run(TIMES[what][1])
    return {"instructions": round((many - few) / (many_times - few_times))}


def measure(program, how):
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(TIMES, pool.map(lambda what: how(program, what), TIMES)))


def compare(recorded, found):
    moved = 0
    for what, figures in found.items():
        for name, value in figures.items():
            before = recorded[what][name]
            holds = abs(value - before) <= TOLERANCE[name] * before + 1e-9
            moved += not holds
            print(f"{what:<8} {name:<16} {value:>10g}  recorded {before:>10g}  "
                  f"{'ok' if holds else 'WORSE' if value > before else 'BETTER'}")
    if moved:
        print("\nThese figures are what one acquire and release (renewal: one extension by the watchdog) costs the client.\n"
              "Where one got worse: valgrind --tool=callgrind hot_path guarded 1000, then callgrind_annotate, says what\n"
              "costs it now. Where the change is wanted, or the figure is better: cmake --build build/dev --target\n"
              "record_cost writes it down, and the commit says why it moved.")
    return 1 if moved else 0


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, mode, build = sys.argv[1], sys.argv[2], (sys.argv[3:] or [""])[0]
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"counts": {}, "instructions": {}}
    if mode != "counts" and not shutil.which("valgrind"):
        print("valgrind is not installed: scripts/setup test")
        return 77
    if mode == "record":
        recorded["counts"] = measure(program, counts)
        recorded["instructions"][build] = measure(program, instructions)
        RECORDED.write_text(json.dumps(recorded, indent=2) + "\n")
        return 0
    if mode == "counts":
        return compare(recorded["counts"], measure(program, counts))
    if build not in recorded["instructions"]:
        sys.exit(f"compare.py: nothing is recorded for {build}")
    return compare(recorded["instructions"][build], measure(program, instructions))


if __name__ == "__main__":
    sys.exit(main())
