"""The client processes: chaos_worker with the real library, each with doors of its own at the proxies; and the
server of the registers, which no fault touches."""
import asyncio
import os
import signal

from .child import Broken, spawn, wait_state


class Worker:
    def __init__(self, number, door, argv, folder):
        self.id, self.door = f"w{number}", door
        self.argv = [*argv, "--id", self.id, "--events", folder / "events" / f"{self.id}.jsonl"]
        self._output = folder / "output" / f"{self.id}.txt"
        self._process = None

    async def start(self):
        self._output.parent.mkdir(exist_ok=True)
        with open(self._output, "wb") as out:
            self._process = await spawn(self.argv, stdin=asyncio.subprocess.PIPE, stdout=out, stderr=out)

    @property
    def code(self):
        return self._process.returncode

    def said(self):
        lines = self._output.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "nothing"

    async def kill(self):
        self._process.kill()
        return await self._process.wait()

    def freeze(self):
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self._process.pid, signal.SIGCONT)

    async def wait_state(self, wanted):
        return await wait_state(self._process.pid, wanted)

    async def finish(self, timeout):
        """None, or what went wrong."""
        if self.code is None:
            self._process.stdin.write(b"finish\n")
            self._process.stdin.close()
        try:
            code = await asyncio.wait_for(self._process.wait(), timeout)
        except asyncio.TimeoutError:
            await self.kill()
            return f"{self.id} did not finish within {timeout:.0f} s"
        return None if code == 0 else f"{self.id} ended with {code} and said: {self.said()}"


class Workers:
    def __init__(self, nodes, registers, programs, settings):
        self.nodes, self._registers, self._programs, self._settings = nodes, registers, programs, settings
        self.other_urls = ""
        self.adapters = {}  # folder -> command
        self.running = []
        self._plan = None
        self._count = 0

    def urls(self, door):
        return ",".join(f"redis://127.0.0.1:{n.proxy.ports[door]}" for n in self.nodes)

    async def begin(self, series, folder):
        self._plan, self._folder, self._count, self.running = series, folder, 0, []
        for door in range(len(self._settings.workers)):
            await self._start(door)
        await asyncio.sleep(0.2)
        self.look()

    async def _start(self, door):
        self._count += 1
        s, plan = self._settings, self._plan
        threads, own_percent = s.workers[door]
        argv = [self._programs[plan.worker], "--nodes", self.other_urls or self.urls(door), "--threads", threads,
                "--names", ",".join(s.names), "--ttl", f"{round(s.ttl_s * 1000)}ms",
                "--max-ttl", f"{round(s.max_ttl_s * 1000)}ms", "--seed", f"{s.seed * 1000 + self._count}",
                "--register", f"redis://{self._registers.address}", "--own-percent", own_percent,
                "--deployment", "chaos", "--grace", f"{round(s.grace_s * 1000)}ms",
                *plan.worker_options, *(["--adapter", self.adapters[plan.adapter]] if plan.adapter else [])]
        worker = Worker(self._count, door, list(map(str, argv)), self._folder)
        await worker.start()
        self.running.append(worker)

    async def replace(self, worker):
        self.running.remove(worker)
        await self._start(worker.door)

    def look(self):
        """Workers end when they are told to and not before."""
        for worker in self.running:
            if worker.code is not None:
                raise Broken(f"{worker.id} ended with {worker.code} and said: {worker.said()}")

    async def finish(self):
        faults = await asyncio.gather(*(w.finish(self._settings.ttl_s * 5 + 20) for w in self.running))
        self.running = []
        return [f for f in faults if f]
