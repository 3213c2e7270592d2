"""Other clients: each has a folder in chaos/adapters with a program `run` that installs what it needs into a folder of the
build and speaks the line protocol."""
import shlex
from pathlib import Path

from .child import Failed, output

ADAPTERS = Path(__file__).resolve().parents[1] / "adapters"


class Missing(Failed):
    """What another client needs is not here: its series is left out, and this says why."""


async def install(name, build):
    """The command that speaks for that client. To be called while there still is a network."""
    run, place = ADAPTERS / name / "run", build / "chaos" / "adapters" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        await output([run, "--install-only", place], timeout=180)
    except Failed as fault:
        raise Missing(str(fault)) from None
    return shlex.join([str(run), str(place)])
