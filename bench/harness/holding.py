"""Set `holding`: ten thousand leases of one client, extended by its watchdog. What they cost in memory and processor time,
here and on the servers, and how late extensions begin. The default ttl of 10 s; an extension every third of it."""
import json

from .clients import settle
from .nodes import Nodes

TTL_MS = 10000
LEASES = 10000
SPAN_MS = 2 * TTL_MS


def holding(run):
    cases = []
    for name in ("callbacks",) if run.quick else ("callbacks", "guarded"):
        peer = run.peers[name]
        nodes = Nodes(5)
        count = max(100, round(LEASES * run.scale))
        driver = peer.start("hold", nodes.ports, n=count, ttl=TTL_MS)
        if (line := driver.line()) != "READY":
            raise RuntimeError(line)
        settle()
        progress, empty = run.progress(f"{count} leases, {peer.title}"), nodes.memory()
        acquired = json.loads(driver.ask("GO"))
        progress(1, 3)
        driver.ask(round(TTL_MS / 3 * run.scale))  # the first extensions are still apart as the acquires were
        progress(2, 3)
        before = nodes.cpu_us()
        held = json.loads(driver.ask(round(SPAN_MS * max(run.scale, 0.35))))
        servers = nodes.cpu_us() - before
        progress(3, 3)
        cases.append({**peer.described(), "leases": acquired["held"], "ttl_ms": TTL_MS, "acquire_wall_us": acquired["wall_us"],
                      "bytes_per_lease": held["bytes"] / acquired["held"],
                      "server_bytes_per_lease": (nodes.memory() - empty) / acquired["held"] / len(nodes.ports),
                      "cpu_share": held["cpu_us"] / held["wall_us"], "server_cpu_share": servers / held["wall_us"],
                      "cpu_us_per_extension": held["cpu_us"] / max(1, held["extensions"]),
                      "extensions": held["extensions"], "lost": held["lost"], "late_us": held["late_us"]})
        driver.end()
        nodes.stop()
    return {"nodes": 5, "cases": cases}
