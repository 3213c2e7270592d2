"""Starts what a run needs so that it dies with the runner, also when that is killed: the kernel is asked to see to it
(setpriv sets the parent death signal). Whatever was started and every folder is in a list, and end_all ends it."""
import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_S = 90  # longer than any batch takes; what needs more hangs


class Failed(Exception):
    """Something that the run cannot do without is missing or broke: one line, with the remedy."""


_started, _folders = [], []


def need(program, remedy):
    if shutil.which(program) is None:
        raise Failed(f"{program} is missing; {remedy}")


def start(argv, **options):
    """In a session of its own, so that Ctrl-C reaches the runner alone, which ends the rest in order. A stop that came
    between the start and the list would leave a process out of that."""
    argv = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)]
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        process = subprocess.Popen(argv, start_new_session=True,
                                   preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, usual), **options)
        _started.append(process)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)
    return process


def end(process):
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # it began a session: what it has started ends with it
        process.wait()
    if process in _started:
        _started.remove(process)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def folder():
    _folders.append(Path(tempfile.mkdtemp(prefix="redlock-bench-")))
    return _folders[-1]


def end_all():
    """The clients first, which would complain of the servers' end."""
    for process in reversed(list(_started)):
        end(process)
    for some in _folders:
        shutil.rmtree(some, ignore_errors=True)


def output(argv, timeout=60):
    """Runs a command to its end and gives its output; Failed with the last line it said where it fails."""
    what = " ".join(map(str, argv[:4]))
    process = start(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"{what} did not end within {timeout} s") from None
    finally:
        end(process)
    if process.returncode:
        said = (err.strip() or out.strip()).splitlines()
        raise Failed(f"{what} failed: {said[-1] if said else process.returncode}")
    return out


class Talker:
    """A process that is told lines and answers with lines."""

    def __init__(self, argv, env=None):
        self.name = os.path.basename(str(argv[0]))
        self._process = start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                              env={**os.environ, **(env or {})})
        self._rest = b""

    def fileno(self):
        return self._process.stdout.fileno()

    def tell(self, line):
        try:
            self._process.stdin.write(f"{line}\n".encode())
        except OSError:
            raise Failed(f"{self.name} ended on its own") from None

    def has_line(self):
        """Without waiting: what is there is read."""
        while b"\n" not in self._rest and select.select([self], [], [], 0)[0]:
            self._read()
        return b"\n" in self._rest

    def line(self, timeout=PATIENCE_S):
        until = time.monotonic() + timeout
        while b"\n" not in self._rest:
            if not select.select([self], [], [], max(0, until - time.monotonic()))[0]:
                raise Failed(f"{self.name} did not answer within {timeout} s")
            self._read()
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def _read(self):
        data = os.read(self.fileno(), 1 << 20)
        if not data:
            raise Failed(f"{self.name} ended on its own, with {self._process.wait()}")
        self._rest += data

    def ask(self, line, timeout=PATIENCE_S):
        self.tell(line)
        return self.line(timeout)

    def end(self):
        end(self._process)
