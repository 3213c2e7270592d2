"""A small Redis client for asyncio: the harness's own, direct line to every server. Nothing waits longer than its
timeout, and a connection that failed once is made anew by the next call."""
import asyncio

PATIENCE_S = 10  # a server that syncs every write to a busy disk may stand still for a while


class RedisError(Exception):
    """The server answered, and said no."""


def encode(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        raw = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
    return b"".join(parts)


async def read_reply(reader):
    line = (await reader.readuntil(b"\r\n"))[:-2]
    kind, rest = line[:1], line[1:]
    if kind == b"+":
        return rest.decode()
    if kind == b"-":
        return RedisError(rest.decode(errors="replace"))
    if kind == b":":
        return int(rest)
    if kind == b"$":
        size = int(rest)
        if size < 0:
            return None
        return (await reader.readexactly(size + 2))[:-2].decode(errors="replace")
    if kind == b"*":
        return [await read_reply(reader) for _ in range(int(rest))]
    raise ConnectionError(f"no reply of Redis: {line!r}")


class Redis:
    def __init__(self, host, port):
        self.host, self.port = host, port
        self._reader = self._writer = None
        self._turn = asyncio.Lock()

    def close(self):
        if self._writer:
            self._writer.close()
        self._reader = self._writer = None

    async def pipeline(self, *commands, timeout=PATIENCE_S):
        """The replies, errors among them as values. Raises OSError where the server cannot be asked."""
        async with self._turn:
            try:
                return await asyncio.wait_for(self._exchange_on_any(commands), timeout)
            except (OSError, EOFError, asyncio.TimeoutError, ConnectionError) as fault:
                self.close()
                raise ConnectionError(f"{self.host}:{self.port}: {fault or 'no answer in time'}") from None
            except asyncio.CancelledError:
                self.close()
                raise

    async def _exchange_on_any(self, commands):
        """A connection that stood idle may have been ended meanwhile, as Sentinels and resets do; a new one tells."""
        idle = self._writer is not None
        try:
            return await self._exchange(commands)
        except (EOFError, ConnectionError):
            if not idle:
                raise
            self.close()
            return await self._exchange(commands)

    async def _exchange(self, commands):
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self.host, self.port)
        self._writer.write(b"".join(encode(c) for c in commands))
        return [await read_reply(self._reader) for _ in commands]

    async def call(self, *words, timeout=PATIENCE_S):
        reply = (await self.pipeline(words, timeout=timeout))[0]
        if isinstance(reply, RedisError):
            raise reply
        return reply

    async def info(self, *sections, timeout=PATIENCE_S):
        text = await self.call("INFO", *sections, timeout=timeout)
        return parse_info(text)

    async def answers(self):
        try:
            return await self.call("PING", timeout=0.5) == "PONG"
        except (OSError, RedisError):
            return False


def parse_info(text):
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
