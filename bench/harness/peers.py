"""Who is measured: the faces of the library, the bounds, and clients from npm where npm can be had."""
from .clients import Peer
from .processes import Failed, output

GUARDED_TTL_MS = 2000  # new nodes settle for so long, once per set of nodes
NPM = {"npm-redlock": ("redlock4", "npm: redlock 4"), "npm-redlock-5": ("redlock5", "npm: redlock 5 beta"),
       "npm-universal": ("universal", "npm: redlock-universal")}


def loop_peers(driver, timeout_ms=0):
    """On one libuv loop each, or a thread per worker (blocking). timeout_ms: of a node, 0 for the library's own."""
    def peer(name, title, kind="redlock-async", **options):
        return Peer(name, title, [driver], peer=kind, timeout=timeout_ms, **options)

    guarded = {"guard": 1, "ttl": GUARDED_TTL_MS}
    peers = [
        peer("floor", "bound: the floor over all nodes", "floor", bound=True),
        peer("again", "the floor once more (noise)", "floor", bound=True),
        peer("single", "bound: one node's round trip", "floor", bound=True),
        peer("bare", "the client under all faces", "redlock"),
        peer("callbacks", "callbacks"),
        peer("trying", "callbacks, no line", line=0),
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


def as_peer(name):
    """Where locks are waited for, the floor is no bound: it polls, and others may well be faster."""
    return {"bound": False, **({"title": "the floor, polling every ms"} if name == "floor" else {})}


class Npm:
    """The packages are fetched by npm, in the versions of the lock file, into a folder of the build."""

    def __init__(self, bench, place, wanted):
        self._run, self._place = bench / "peers" / "npm" / "run", place
        self.missing, self._loads = None, []
        if not wanted:
            return
        try:
            output([self._run, "--install-only", place], timeout=300)
            for name, (kind, _) in NPM.items():
                output([self._run, place, "--mode", "check", "--peer", kind])
                self._loads.append(name)
        except Failed as fault:
            self.missing = str(fault)

    def peers(self):
        return {name: Peer(name, NPM[name][1], [self._run, self._place], peer=NPM[name][0], least_share=0.2)
                for name in self._loads}
