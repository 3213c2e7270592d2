"""Set `latency`: how long acquire and release take, over the number of nodes, the delay to them, what is asked for, the face
that asks, TLS, and nodes that are out. Each group has its clients resident and by turns."""
from .clients import by_turns, ready, settle, summary
from .nodes import Delay, Nodes

DELAYS_MS = (0, 0.5, 2, 10)
PAIRS = {0: 100, 0.5: 50, 2: 20, 10: 5}  # of a batch: long enough to be warm, short enough for the machine to stay as it is
FEW = ("floor", "again", "single", "callbacks", "both")
HURT = ("hung", "dead", "hung_dead")


class Place:
    """Nodes for one N: those that stay well, one to hang, one to die, and some that speak TLS."""

    def __init__(self, count, hurt, tls):
        self.nodes = Nodes(count)
        self.victims = Nodes(2) if hurt else None
        self.secret = Nodes(count, tls=True) if tls else None
        self._count = count

    def ports_of(self, name, doors):
        """`doors` leads to the port where a node is reached, through the delay if there is one."""
        well = [doors[port] for port in self.nodes.ports]
        if name == "single":
            return well[:1]
        if name == "tls":
            return [doors[port] for port in self.secret.ports]
        hung, dead = [doors[port] for port in self.victims.ports] if self.victims else (None, None)
        return {"hung": well[1:] + [hung], "dead": well[1:] + [dead], "hung_dead": well[2:] + [hung, dead]}.get(name, well)

    def all_ports(self):
        return [port for some in (self.nodes, self.victims, self.secret) if some for port in some.ports]

    def hurt(self):
        if self.victims:
            self.victims.hang(0)
            self.victims.kill(1)

    def heal(self):
        if self.victims:
            self.victims.go_on(0)
            self.victims.start_again(1)

    def stop(self):
        for some in (self.nodes, self.victims, self.secret):
            if some:
                some.stop()


def group(run, place, count, delay_ms, peers):
    ports = place.all_ports()
    proxy = Delay(run.programs["bench_delay_proxy"], delay_ms, ports) if delay_ms else None
    doors = dict(zip(ports, proxy.ports if proxy else ports))
    drivers = {}
    for name, peer in peers.items():
        options = {"tls": place.secret.authority.ca} if name == "tls" else {}
        drivers[name] = peer.start("times", place.ports_of(name, doors), workers=1, warm=5, **options)
    ready(drivers)
    place.hurt()
    settle()
    pairs = max(2, round(PAIRS[delay_ms] * run.scale))
    title = f"{count} node{'s' if count > 1 else ''}, {delay_ms:g} ms each way"
    batches = by_turns(drivers, run.rounds, lambda name: max(1, round(pairs * peers[name].share)), run.progress(title))
    for driver in drivers.values():
        driver.end()
    place.heal()
    if proxy:
        proxy.stop()
    members = [{**peers[name].described(), **summary(some, batches["floor"])} for name, some in batches.items()]
    noise = next((member["ratio"] for member in members if member["name"] == "again"), None)
    return {"nodes": count, "delay_ms": delay_ms, "noise": noise,
            "members": [member for member in members if member["name"] != "again"]}


def latency(run):
    counts = (5,) if run.quick else (1, 3, 5, 7)
    delays = ((0, 2) if run.quick else DELAYS_MS)[:run.most]
    groups = []
    for count in counts:
        wide = count == 5
        place = Place(count, hurt=wide, tls=wide)
        for delay_ms in delays:
            peers = run.peers if wide else {name: run.peers[name] for name in FEW}
            if wide:
                peers = {**peers, **run.npm.peers()}
            if count == 1:
                peers = {name: peer for name, peer in peers.items() if name != "single"}  # the floor is that already
            groups.append(group(run, place, count, delay_ms, peers))
        place.stop()
    return {"groups": groups, "left_out": run.npm.missing}
