"""The runner's side of chaos_proxy: one process before each node, with a door for each client process."""
import asyncio
import json

from .child import Broken, spawn

PATIENCE_S = 10


class Proxy:
    def __init__(self, program, upstream, doors, seed, host="127.0.0.1"):
        self.host = host
        self._argv = [program, "--upstream", upstream, "--seed", str(seed)]
        for _ in range(doors):
            self._argv += ["--listen", f"{host}:0"]
        self.ports = []
        self._turn = asyncio.Lock()

    async def start(self):
        self._process = await spawn(self._argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        self.ports = (await self._answer())["ports"]

    async def _answer(self):
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE_S)
        except asyncio.TimeoutError:
            raise Broken(f"{self._argv[0]} did not answer within {PATIENCE_S} s") from None
        if not line:
            raise Broken(f"{self._argv[0]} ended with {await self._process.wait()}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise Broken(f"{self._argv[0]}: {answer['error']}")
        return answer

    async def tell(self, command, door=None):
        """Its counters after the command."""
        async with self._turn:
            words = command if door is None else f"door {door} {command}"
            self._process.stdin.write(words.encode() + b"\n")
            return await self._answer()

    async def end(self):
        if self._process.returncode is None:
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), PATIENCE_S)
            except asyncio.TimeoutError:
                self._process.kill()
                await self._process.wait()
