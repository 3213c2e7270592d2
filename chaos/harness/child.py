"""Starts processes that die with the runner, also when it is killed: the kernel is asked to see to that (setpriv sets
the parent death signal). So all are started by the runner's one thread."""
import asyncio
import contextlib
import os
import shutil
import signal


def lasting(argv):
    return ["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)]


async def spawn(argv, env=None, **options):
    options.setdefault("stdin", asyncio.subprocess.DEVNULL)
    return await asyncio.create_subprocess_exec(*lasting(argv), env={**os.environ, **(env or {})},
                                                start_new_session=True, **options)


class Failed(Exception):
    """Something that the run cannot do without is missing: one line, with the remedy."""


class Broken(RuntimeError):
    """Something did not do what it has to, so that nothing can be said of the library."""


def need(program, remedy):
    if shutil.which(program) is None:
        raise Failed(f"{program} is missing; {remedy}")


async def output(argv, env=None, timeout=60):
    """Runs a command to its end and gives its output; Failed with the last line it said where it fails. When the run is
    stopped meanwhile, it ends, with all that it has started."""
    try:
        process = await asyncio.create_subprocess_exec(*map(str, argv), env={**os.environ, **(env or {})},
                                                       stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                                                       stderr=asyncio.subprocess.PIPE, start_new_session=True)
    except OSError as fault:
        raise Failed(f"{argv[0]} cannot be run: {fault.strerror}") from None
    try:
        out, err = await asyncio.wait_for(process.communicate(), timeout)
    except asyncio.TimeoutError:
        raise Failed(f"{' '.join(map(str, argv[:4]))} ... did not end within {timeout} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0:
        said = (err.decode(errors="replace").strip() or out.decode(errors="replace").strip()).splitlines()
        raise Failed(f"{' '.join(map(str, argv[:6]))} failed: {said[-1] if said else process.returncode}")
    return out.decode(errors="replace")


async def wait_state(pid, wanted):
    """The kernel's letter for what a process does: T when it is stopped, which may take it a moment."""
    for _ in range(100):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            state = file.read().rpartition(")")[2].split()[0]
        if state == wanted:
            break
        await asyncio.sleep(0.02)
    return state


async def until_told(work):
    """Awaits it; ^C, SIGTERM and SIGHUP cancel it, so that it ends in order."""
    task = asyncio.current_task()
    for what in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(what, task.cancel)
    return await work
