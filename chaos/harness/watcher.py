"""Cleans up after a run, however the run ended: a process of its own, told beforehand what there will be to clean,
that acts when its input ends. The runner ends it in the same way on purpose, so there is one road and it is always
used.

Each line of input is a JSON object: {"remove": path}, {"rmdirs": [glob...]}, {"kill": pid, "start": ticks} or
{"run": [argv...], "env": {...}}. They are done in reverse order."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time


PREFIX = "redlock-chaos-"


def start_of(pid):
    """When a process started, in ticks since boot: pids come back in other programs' hands."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def gone(pid, start):
    return start_of(pid) != start


def end(pid, start):
    if gone(pid, start):
        return
    os.kill(pid, signal.SIGKILL)
    for _ in range(500):
        if gone(pid, start) or "\nState:\tZ" in open(f"/proc/{pid}/status", encoding="ascii", errors="replace").read():
            return
        time.sleep(0.02)


def remove(path):
    # What a process that is being ended still writes may come back once.
    for _ in range(50):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return
        time.sleep(0.1)


def remove_dirs(patterns):
    """Control groups: folders whose files cannot be removed, the deepest first."""
    for _ in range(20):
        left = [d for p in patterns for d in glob.glob(p)]
        for top in left:
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass
        if not any(os.path.isdir(d) for d in left):
            return
        time.sleep(0.1)


def act(order):
    if "remove" in order:
        remove(order["remove"])
    elif "rmdirs" in order:
        remove_dirs(order["rmdirs"])
    elif "kill" in order:
        end(order["kill"], order["start"])
    elif "run" in order:
        subprocess.run(order["run"], env={**os.environ, **order.get("env", {})}, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)


def act_on(orders):
    for order in reversed(orders):
        try:
            act(order)
        except (OSError, subprocess.SubprocessError):
            pass


def sweep(place):
    """Cleans up after runs in that folder of whom nobody is left."""
    for notes in place.glob(PREFIX + "*/orders.jsonl"):
        try:
            if notes.stat().st_uid != os.getuid():
                continue
            first, *orders = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
            left = gone(first["runner"], first["start"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if left:
            act_on(orders)


def main():
    os.setsid()
    for what in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(what, signal.SIG_IGN)
    act_on([json.loads(line) for line in sys.stdin if line.endswith("\n")])


class Watcher:
    """The runner's side. What it tells is kept in the run's folder as well, for the case that both are killed: the next run
    sweeps what such a one left."""

    def __init__(self, place):
        self._notes = open(place / "orders.jsonl", "w", encoding="utf-8", buffering=1)
        self._notes.write(json.dumps({"runner": os.getpid(), "start": start_of(os.getpid())}) + "\n")
        self._process = subprocess.Popen([sys.executable, "-I", os.path.abspath(__file__)], stdin=subprocess.PIPE,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)

    def tell(self, **order):
        self._notes.write(json.dumps(order) + "\n")
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def tell_of(self, pid):
        self.tell(kill=pid, start=start_of(pid))

    def clean(self):
        if not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait()


if __name__ == "__main__":
    main()
