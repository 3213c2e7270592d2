"""chaos/up and chaos/down: the same deployment for people to play with. What has to be done to take it down is kept
in a file while it is up, in the words of the watcher (watcher.py)."""
import asyncio
import json
import os
import sys
from pathlib import Path

from .child import Broken, Failed, output, until_told
from .containers import Containers
from .watcher import act_on, start_of

PROJECT = "redlock-chaos"
NET = "10.78.0"  # beside that of runs


def place():
    return Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"redlock-chaos-up-{os.getuid()}"


class Notes:
    """Stands in for the watcher: nothing is cleaned until chaos/down does."""

    def __init__(self, path):
        self._path, self.orders = path, []

    def tell(self, **order):
        self.orders.append(order)
        self._path.write_text(json.dumps(self.orders), encoding="utf-8")

    def tell_of(self, pid):
        self.tell(kill=pid, start=start_of(pid))


async def bring_up(root):
    folder = place()
    try:
        folder.mkdir(mode=0o755)
    except FileExistsError:
        raise Failed(f"it is up already ({folder}); 'chaos/down' takes it down") from None
    notes = Notes(folder / "orders.json")
    notes.tell(remove=str(folder))
    try:
        deployment = Containers(folder, None, NET, PROJECT)
        await deployment.open(notes, stays=True)
        names = [f"{kind}-{i}" for kind in ("node", "replica") for i in range(1, 6)]
        servers = [deployment.server(name) for name in names]
        await asyncio.gather(*(s.start() for s in servers))
        await asyncio.gather(*(s.wait_up() for s in servers))
        await make_ready(root, deployment, ",".join(f"redis://{s.address}" for s in servers[:5]))
    except BaseException:
        take_down()
        raise
    return 0


async def make_ready(root, deployment, urls):
    built = sorted((root / "build").glob("*/src/cli/redlock"), key=lambda p: p.stat().st_mtime)
    if built:
        await output([built[-1], "--nodes", urls, "init", "--yes"])
    print(f"export REDLOCK_NODES={urls}")
    if deployment.house:
        print(f"# An engine of their own, in a network of their own; to work there:\n"
              f"#   nsenter --net=/proc/{deployment.house.inside()}/ns/net bash\n"
              f"export DOCKER_HOST={deployment.house.host}")
    if not built:
        print("# Not marked ready, since the program is not built: the first lock takes 30 s.")


def take_down():
    folder = place()
    try:
        orders = json.loads((folder / "orders.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        print("nothing is up")
        return 0
    except ValueError:
        raise Failed(f"{folder}/orders.json cannot be read; end its dockerd, if there is one, and remove {folder}") from None
    act_on(orders)
    if folder.exists():
        raise Failed(f"{folder} could not be removed")
    return 0


def main(what, argv):
    if argv:
        print(f"usage: chaos/{what}", file=sys.stderr)
        return 64
    try:
        return asyncio.run(until_told(bring_up(Path(__file__).resolve().parents[2]))) if what == "up" else take_down()
    except Failed as fault:
        print(f"chaos/{what}: {fault}", file=sys.stderr)
        return 69
    except (Broken, OSError) as fault:
        print(f"chaos/{what}: stopped: {fault}", file=sys.stderr)
        return 70
    except asyncio.CancelledError:
        print(f"chaos/{what}: stopped; what was up is taken down", file=sys.stderr)
        return 130
