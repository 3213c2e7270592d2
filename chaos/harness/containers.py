"""The deployment of compose.yaml: with the Docker engine that runs here, or else with one of our own (house.py)."""
import os
from pathlib import Path

from . import image
from .child import Failed, need, output
from .house import House
from .server import Server

COMPOSE_FILE = Path(__file__).resolve().parents[1] / "compose.yaml"
REDIS_PORT = 6379


class Container(Server):
    bind = "0.0.0.0"
    seen_folder = "/data"

    def __init__(self, name, folder, host, deployment):
        super().__init__(name, folder, host, REDIS_PORT)
        self._deployment = deployment
        self._container = f"{deployment.project}-{name}"

    async def _docker(self, *words):
        return await self._deployment.docker(*words)

    async def start(self):
        await self._docker("start", self._container)
        self.up = True

    async def kill(self):
        self.up = False
        await self._docker("kill", "--signal", "KILL", self._container)
        await self._docker("wait", self._container)
        self.redis.close()
        self.frozen = False

    async def freeze(self):
        await self._docker("kill", "--signal", "STOP", self._container)
        self.frozen = True

    async def thaw(self):
        await self._docker("kill", "--signal", "CONT", self._container)
        self.frozen = False

    async def pause(self):
        await self._docker("pause", self._container)
        self.frozen = True

    async def unpause(self):
        await self._docker("unpause", self._container)
        self.frozen = False

    async def proof_of_pause(self):
        state = (await self._docker("inspect", "--format", "{{.State.Status}}", self._container)).strip()
        return f"the engine says {state}", state == "paused"


class Containers:
    mode = "containers"
    numbers = {"node": 10, "replica": 20, "sentinel": 30}

    def __init__(self, place, shim, net="10.77.0", project=None):
        self._place, self._shim, self.net = place, shim, net
        self.project = project or f"redlock-chaos-{os.getpid()}"
        self.servers = {}
        self.house = None
        self._env = {}

    @property
    def host_seen_by_servers(self):
        return f"{self.net}.1"

    async def open(self, watcher=None, stays=False):
        need("docker", "'scripts/setup chaos' installs it; --processes does without containers")
        self._compose = await self._find_compose()
        try:
            await output(["docker", "info"], timeout=20)
        except Failed:
            self.house = House(self._place)
            await self.house.open(watcher, stays)
            self._env["DOCKER_HOST"] = self.house.host
            self.house.join()
        data = self._place / "nodes"
        data.mkdir()
        data.chmod(0o755)
        self._env.update({
            "REDLOCK_CHAOS_IMAGE": await image.provide(self.docker, self._place, ask_registry=self.house is None),
            "REDLOCK_CHAOS_USER": f"{os.getuid()}:{os.getgid()}", "REDLOCK_CHAOS_DATA": str(data),
            "REDLOCK_CHAOS_PROJECT": self.project, "REDLOCK_CHAOS_NET": self.net,
            "REDLOCK_CHAOS_PRELOAD": image.preload(data, self._shim) if self._shim else ""})
        for kind, count in (("node", 5), ("replica", 5), ("sentinel", 3)):
            for i in range(1, count + 1):
                self.server(f"{kind}-{i}").configure()
        if watcher and not self.house:
            watcher.tell(run=[*self._compose_argv(), "down", "--volumes", "--timeout", "1"], env=self._env)
        # Created and not started: whoever uses a server starts it.
        await output([*self._compose_argv(), "up", "--no-start"], env=self._env, timeout=180)

    async def _find_compose(self):
        try:
            await output(["docker", "compose", "version"])
            return ["docker", "compose"]
        except Failed:
            need("docker-compose", "'scripts/setup chaos' installs it; --processes does without containers")
            return ["docker-compose"]

    def _compose_argv(self):
        return [*self._compose, "--file", str(COMPOSE_FILE), "--project-name", self.project]

    async def docker(self, *words, timeout=60):
        return await output(["docker", *words], env=self._env, timeout=timeout)

    def server(self, name):
        if name not in self.servers:
            kind, number = name.split("-")
            host = f"{self.net}.{self.numbers[kind] + int(number)}"
            self.servers[name] = Container(name, self._place / "nodes" / name, host, self)
        return self.servers[name]

    async def close(self):
        """Whoever cleans up after us does it: the watcher."""
