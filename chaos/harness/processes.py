"""The deployment as plain processes on loopback: quick, and without any rights. A pause is SIGSTOP."""
import os
import signal

from shared.ports import free_port

from .child import spawn, wait_state
from .server import Server


class ProcessServer(Server):
    program = "redis-server"

    def __init__(self, name, folder, shim):
        super().__init__(name, folder, "127.0.0.1", free_port())
        self._shim = shim
        self._process = None

    async def start(self):
        env = {"REDLOCK_CLOCK_FILE": str(self.folder / "clock")}
        if self._shim:
            env["LD_PRELOAD"] = str(self._shim)
        out = open(self.folder / "output", "ab")
        argv = [self.program, self.folder / "redis.conf"]
        if self.name.startswith("sentinel"):
            argv.append("--sentinel")
        self._process = await spawn(argv, env=env, stdout=out, stderr=out)
        self.up = True
        out.close()

    async def kill(self):
        self.up = False
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self.redis.close()
        self.frozen = False

    async def freeze(self):
        os.kill(self._process.pid, signal.SIGSTOP)
        self.frozen = True

    async def thaw(self):
        os.kill(self._process.pid, signal.SIGCONT)
        self.frozen = False

    pause, unpause = freeze, thaw

    async def proof_of_pause(self):
        state = await wait_state(self._process.pid, "T")
        return f"the kernel says state {state}", state == "T"


class Processes:
    mode = "processes"
    host_seen_by_servers = "127.0.0.1"

    def __init__(self, place, shim):
        self._place, self._shim = place, shim
        self.servers = {}

    async def open(self, watcher=None):
        pass

    def server(self, name):
        if name not in self.servers:
            self.servers[name] = ProcessServer(name, self._place / name, self._shim)
        return self.servers[name]

    async def close(self):
        for server in self.servers.values():
            await server.kill()
