"""Who is measured: the faces of the library, the bounds, and clients from npm where npm can be had."""
import shutil

from .clients import Peer
from .processes import Failed, output

GUARDED_TTL_MS = 2000  # new nodes settle for so long, once per set of nodes
NPM = {"npm-redlock": ("redlock4", "npm: redlock 4"), "npm-redlock-5": ("redlock5", "npm: redlock 5 beta"),
       "npm-universal": ("universal", "npm: redlock-universal")}


def loop_peers(driver):
    """On one libuv loop each, or a thread per worker (blocking)."""
    def peer(name, title, kind="redlock", **options):
        return Peer(name, title, [driver], peer=kind, **options)

    guarded = {"guard": 1, "ttl": GUARDED_TTL_MS}
    peers = [
        peer("floor", "bound: the floor over all nodes", "floor", bound=True),
        peer("again", "the floor once more (noise)", "floor", bound=True),
        peer("single", "bound: one node's round trip", "floor", bound=True),
        peer("callbacks", "callbacks"),
        peer("coroutine", "coroutines", "redlock-coroutine"),
        peer("blocking", "LockManager (threads)", "redlock-blocking"),
        peer("guarded", "callbacks, guarded", **guarded),
        peer("fenced", "callbacks, fenced", fencing=1),
        peer("both", "callbacks, guarded and fenced", fencing=1, **guarded),
        peer("tls", "callbacks, TLS"),
        peer("hung", "callbacks, one node hung"),
        peer("dead", "callbacks, one node dead"),
        peer("hung_dead", "callbacks, one hung and one dead"),
    ]
    return {one.name: one for one in peers}


class Npm:
    """The packages are fetched by npm, in the versions of the lock file, into a folder of the build."""

    def __init__(self, bench, place, skip=False):
        self._run, self._place = bench / "peers" / "npm" / "run", place
        self.missing = "not asked for" if skip else None
        if skip:
            return
        try:
            if shutil.which("node") is None:
                raise Failed("there is no node")
            output([self._run, "--install-only", place], timeout=300)
        except Failed as fault:
            self.missing = str(fault)

    def peers(self):
        if self.missing:
            return {}
        return {name: Peer(name, title, [self._run, self._place], peer=kind, least_share=0.2)
                for name, (kind, title) in NPM.items()}
