"""One redis-server, wherever it runs: its folder, its configuration, what it remembers when it starts. How it is
started, killed and frozen is for Processes or Containers to say."""
import asyncio
import mmap
import shutil
import struct

from .child import Broken
from .resp import Redis


class Server:
    def __init__(self, name, folder, host, port):
        self.name, self.folder, self.host, self.port = name, folder, host, port
        self.redis = Redis(host, port)
        self.up = self.frozen = False
        folder.mkdir(parents=True)
        folder.chmod(0o777)  # in a container another user may own the process
        self._clock_file = open(folder / "clock", "w+b")
        self._clock_file.write(bytes(8))
        self._clock_file.flush()
        self._clock = mmap.mmap(self._clock_file.fileno(), 8)

    # As the server sees them: the same folder has another name in a container.
    seen_folder = property(lambda self: self.folder)
    bind = "127.0.0.1"

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def set_clock(self, offset_us):
        """Its wall clock from now on, against the true one."""
        self._clock[:8] = struct.pack("<q", offset_us)

    def configure(self, append_only=True, extra=()):
        lines = [f"bind {self.bind}", f"port {self.port}", "protected-mode no", f"dir {self.seen_folder}",
                 f"logfile {self.seen_folder}/log", 'save ""', "appendfsync always",
                 f"appendonly {'yes' if append_only else 'no'}", "repl-diskless-sync-delay 0",
                 "repl-ping-replica-period 1", "repl-timeout 5", "shutdown-timeout 1", *extra]
        (self.folder / "redis.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def configure_sentinel(self, lines):
        """Sentinel keeps what it learns in the same file."""
        base = [f"bind {self.bind}", f"port {self.port}", "protected-mode no", f"dir {self.seen_folder}",
                f"logfile {self.seen_folder}/log"]
        path = self.folder / "redis.conf"
        path.unlink(missing_ok=True)
        path.write_text("\n".join(base + lines) + "\n", encoding="utf-8")

    def forget(self):
        """Its data are gone. Not to be called while it runs."""
        for path in self.folder.iterdir():
            if path.name.startswith("appendonly"):
                shutil.rmtree(path)
            elif path.suffix in (".rdb", ".aof"):
                path.unlink()

    async def run_id(self):
        return (await self.redis.info("server"))["run_id"]

    async def wait_up(self, timeout=20):
        for _ in range(timeout * 50):
            if await self.redis.answers():
                return
            await asyncio.sleep(0.02)
        log = self.folder / "log"
        said = log.read_text(errors="replace").strip().splitlines()[-1:] if log.exists() else []
        raise Broken(f"{self.name} does not answer at {self.address}; its log ends: {' '.join(said)}")
