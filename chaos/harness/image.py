"""The image of the nodes. A registry's where one answers; otherwise, in about a second, made from nothing but this
machine's own redis-server and the libraries that it names."""
import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path

from .child import Failed, output

REGISTRY_IMAGE = "redis:7-bookworm"  # of the same Debian as the shim is built for
OWN_IMAGE = "redlock-chaos-redis"


def libraries(program):
    text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", text)))


async def provide(docker, place: Path, ask_registry):
    """The image's name. `docker(*words)` runs the client."""
    if ask_registry:
        try:
            await docker("image", "inspect", REGISTRY_IMAGE)
            return REGISTRY_IMAGE
        except Failed:
            pass
        try:
            await docker("pull", "--quiet", REGISTRY_IMAGE, timeout=60)
            return REGISTRY_IMAGE
        except Failed:
            pass
    return await build(docker, place)


async def build(docker, place):
    found = shutil.which("redis-server")
    if not found:
        raise Failed("redis-server is missing, and no registry has an image; 'scripts/setup run' installs it")
    root = place / "image"
    # In Debian the name is a link to redis-check-rdb, which does what the name it is called by says.
    program = os.path.realpath(found)
    for source, target in [(program, "/usr/bin/redis-server"), *((path, path) for path in libraries(program))]:
        copy = root / target.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(source), copy)
    (root / "data").mkdir()
    (root / "tmp").mkdir(mode=0o777)
    archive = place / "image.tar"
    await output(["tar", "-C", root, "-cf", archive, "."])
    await docker("import", "--change", 'ENV PATH=/usr/bin', archive, OWN_IMAGE)
    await asyncio.to_thread(shutil.rmtree, root)
    archive.unlink()
    return OWN_IMAGE


def preload(place: Path, shim):
    """Where the containers find the shim and the libraries that redis-server itself may not have brought."""
    folder = place / "shim"
    folder.mkdir()
    folder.chmod(0o755)
    shutil.copy(shim, folder / "clock_shim.so")
    return "/shim/clock_shim.so"
