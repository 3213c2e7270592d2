"""A Docker engine of our own, for machines where none runs: in namespaces of its own for network (without a way out),
processes and mounts. When the first process of these ends, the kernel ends all others, and the networks and mounts go
with them: nothing has to be counted up to be cleaned. The caller goes into the network by join()."""
import asyncio
import ctypes
import os
import subprocess
from pathlib import Path

from .child import Failed, lasting, need, output
from .watcher import start_of

CLONE_NEWNET = 0x40000000


class House:
    def __init__(self, place: Path):
        self._place = place
        self.socket = place / "docker.sock"
        self.host = f"unix://{self.socket}"
        self.group = f"redlock-chaos-{os.getpid()}"
        self.pid = None

    async def open(self, watcher=None, stays=False):
        if os.geteuid() != 0:
            raise Failed("no Docker engine runs here that you may use, and starting one takes root: start Docker, "
                         "run this as root, or use --processes")
        for program in ("dockerd", "containerd", "ip", "unshare"):
            need(program, "'scripts/setup chaos' installs it; --processes does without containers")
        if watcher:
            watcher.tell(rmdirs=[f"/sys/fs/cgroup/{self.group}", f"/sys/fs/cgroup/*/{self.group}"])
        for driver in ("overlay2", "vfs"):
            if await self._start(driver, watcher, stays):
                return
        said = (self._place / "dockerd.log").read_text(errors="replace").strip().splitlines()[-1:]
        raise Failed(f"dockerd did not start: {' '.join(said)}; --processes does without containers")

    async def _start(self, driver, watcher, stays):
        script = ('mount -t proc proc /proc && ip link set lo up && exec dockerd --host "$1" --data-root "$2/docker" '
                  '--exec-root "$2/exec" --pidfile "$2/dockerd.pid" --storage-driver "$3" --cgroup-parent "/$4" '
                  '--iptables=false --ip6tables=false --ip-masq=false --bridge=none')
        argv = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "house",
                self.host, str(self._place), driver, self.group]
        with open(self._place / "dockerd.log", "wb") as log:
            # Whoever comes to stay outlives the one who opened the door.
            process = subprocess.Popen(argv if stays else lasting(argv), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        if watcher:
            watcher.tell_of(process.pid)
        self.pid = process.pid
        for _ in range(300):
            if process.poll() is not None:
                return False
            try:
                await output(["docker", "version"], env={"DOCKER_HOST": self.host})
                return True
            except Failed:
                await asyncio.sleep(0.1)
        process.kill()
        process.wait()
        return False

    def inside(self):
        """The first process of the namespaces."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii").split()
        return int(children[0])

    def join(self):
        """From here on this process and its children live in that network."""
        join_network(self.inside())

    def record(self):
        return {"pid": self.pid, "start": start_of(self.pid), "inside": self.inside(), "socket": str(self.socket),
                "group": self.group}


def join_network(pid):
    with open(f"/proc/{pid}/ns/net", "rb") as network:
        if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), CLONE_NEWNET) != 0:
            raise Failed(f"cannot enter the network of the containers: {os.strerror(ctypes.get_errno())}")
