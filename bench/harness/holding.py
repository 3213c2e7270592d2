"""Set `holding`: ten thousand leases of one client, extended by its watchdog. What they cost in memory and processor time,
here and on the servers, and how late extensions begin. The default ttl of 10 s; an extension every third of it."""
import json

from .clients import ready, settle
from .nodes import Nodes
from .processes import Failed

TTL_MS = 10000
LEASES = 10000
SPANS = 2  # ttls that are looked at


def holding(run):
    cases = []
    for name in ("callbacks",) if run.quick else ("callbacks", "guarded"):
        peer, nodes = run.peers[name], Nodes(5)
        # None of the few may be lost by a machine that stalls.
        ttl_ms, count, spans = (6000, 100, 1) if run.brief else (TTL_MS, LEASES, SPANS)
        driver = peer.start("hold", nodes.ports, n=count, ttl=ttl_ms)
        ready({name: driver})
        settle()
        progress, empty = run.progress(f"{count} leases, {peer.title}"), nodes.memory()
        acquired = json.loads(driver.ask("GO"))
        if not acquired["held"]:
            raise Failed(f"{peer.title}: none of {count} free locks was granted")
        progress(1, 3)
        driver.ask(round(ttl_ms / 3))  # the first extensions are still apart as the acquires were
        progress(2, 3)
        before = nodes.cpu_us()
        held = json.loads(driver.ask(spans * ttl_ms))
        servers = nodes.cpu_us() - before
        progress(3, 3)
        cases.append({**peer.described(), "leases": acquired["held"], "ttl_ms": ttl_ms, "acquire_wall_us": acquired["wall_us"],
                      "bytes_per_lease": held["bytes"] / acquired["held"],
                      "server_bytes_per_lease": (nodes.memory() - empty) / acquired["held"] / len(nodes.ports),
                      "cpu_share": held["cpu_us"] / held["wall_us"], "server_cpu_share": servers / held["wall_us"],
                      "cpu_us_per_extension": held["cpu_us"] / max(1, held["extensions"]),
                      "extensions": held["extensions"], "lost": held["lost"], "late_us": held["late_us"]})
        driver.end()
        nodes.stop()
    return {"nodes": 5, "cases": cases}
