"""Set `waiting`: many calls of one client wait for a lock that another process holds and keeps. What they cost while nothing
happens: processor time, and requests to the servers."""
import json

from .clients import ready, settle
from .nodes import Nodes

WAITERS = 200
SPAN_MS = 20000


def waiting(run):
    cases = []
    for name in ("callbacks",) if run.quick else ("callbacks", "guarded", "trying"):
        peer, nodes = run.peers[name], Nodes(5)
        waiters, span_ms = (20, 1000) if run.brief else (WAITERS, SPAN_MS)
        holder = peer.start("hold", nodes.ports, n=1, prefix="held")  # the lock held0
        driver = peer.start("wait", nodes.ports, workers=waiters, prefix="held0")
        ready({"holder": holder, name: driver})
        holder.ask("GO")
        settle()
        progress = run.progress(f"{waiters} waiters, {peer.title}")
        before = nodes.requests()
        alone = json.loads(holder.ask(span_ms))  # its watchdog asks as well
        of_holder = nodes.requests() - before
        progress(1, 3)
        driver.ask("GO")
        progress(2, 3)
        before = nodes.requests()
        holder.tell(span_ms)
        said = json.loads(driver.ask(span_ms))
        holder.line()
        of_all = nodes.requests() - before
        progress(3, 3)
        cases.append({**peer.described(), "waiters": said["waiting"], "cpu_share": said["cpu_us"] / said["wall_us"],
                      "requests_per_s": of_all / said["wall_us"] * 1e6, "holder_requests_per_s": of_holder / alone["wall_us"] * 1e6})
        driver.end()
        holder.end()
        nodes.stop()
    return {"nodes": 5, "cases": cases}
