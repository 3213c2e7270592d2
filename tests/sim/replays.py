#!/usr/bin/env python3
"""A fault that a sweep finds is shrunk, and the line that is printed replays just the shrunk history.

usage: replays.py PROGRAM FLAG...     flags of PROGRAM that make it find a fault
"""
import os
import re
import subprocess
import sys

SUMMARY = re.compile(r"^\d+ faults, (\d+) events, trace hash ([0-9a-f]{16})$", re.M)
LINE = re.compile(r"^replay: (.*)$", re.M)


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=600, check=False).stdout


def main():
    program, *flags = sys.argv[1:]
    found = output(program, *flags, "--shrink")
    lines, summaries = LINE.findall(found), SUMMARY.findall(found)
    if len(lines) != 2 or len(summaries) != 2:
        return f"expected a history and a shrunk one:\n{found[-3000:]}"
    kind = re.search(r"^shrunk, and still (.*):$", found, re.M).group(1)
    (_, (before, _)), (line, (after, digest)) = zip(lines, summaries)
    if int(after) * 2 > int(before):
        return f"{before} events were only made {after}"
    words = line.split()
    if words[0] != os.path.basename(program):
        return f"the line is one of another program: {line}"
    again = output(program, *words[1:])
    if SUMMARY.findall(again) != [(after, digest)]:
        return f"{line} gave another history:\n{again[-3000:]}"
    if f"\nFAULT {kind}" not in again:
        return f"{line} shows no {kind}"
    print(f"{before} events were made {after}: {line}")
    return None


sys.exit(main())
