"""Other clients: each has a folder in chaos/adapters with a program `run` that installs what it needs into a folder
of the build and speaks the line protocol."""
import shlex
from pathlib import Path

from .child import output

ADAPTERS = Path(__file__).resolve().parents[1] / "adapters"


async def install(name, build):
    """The command that speaks for that client; Failed where it cannot be had. To be called while there is a network."""
    run, place = ADAPTERS / name / "run", build / "chaos" / "adapters" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    await output([run, "--install-only", place], timeout=180)
    return shlex.join([str(run), str(place)])
