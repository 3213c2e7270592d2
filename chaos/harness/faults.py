"""How a fault is written: a generator that hurts, yields while it lasts, heals, and proves that it took effect.

    @fault("flushall", "FLUSHALL: a node forgets everything at once")
    async def flushall(c, f): ...

`c` is the run (chaos.py), `f` this one occurrence: f.nodes, f.clients, f.prove(). Used as
`async with flushall(c, nodes): await c.sleep(2)`. What it does and when it ended is written down for everybody; a fault
that proves nothing fails the run, since a fault that was none would make every check pass."""
from contextlib import asynccontextmanager

KINDS = {}  # kind -> what it does, a line


class Occurrence:
    def __init__(self, c, kind, nodes, clients):
        self.c, self.kind, self.nodes, self.clients = c, kind, nodes, clients
        self.id = c.events.next_fault()
        self.proof = ""

    def prove(self, holds, text):
        """What was seen of it. Where it does not hold, this is what was seen instead."""
        if holds:
            self.proof += ("; " if self.proof else "") + text
        else:
            self.c.problem(f"{self.id} {self.kind} on {self.where()}: took no effect: {text}")

    def where(self):
        return ", ".join([n.label for n in self.nodes] + [w.id for w in self.clients]) or "all"


def fault(kind, line):
    KINDS[kind] = line

    def wrap(body):
        hurt = asynccontextmanager(body)

        @asynccontextmanager
        async def occur(c, nodes=(), clients=(), **options):
            f = Occurrence(c, kind, list(nodes), list(clients))
            c.events.write("fault", id=f.id, kind=kind, nodes=[n.id for n in f.nodes],
                           clients=[w.id for w in f.clients], what="begin", says=f"{f.where()}: {line}")
            c.faults += 1
            try:
                async with hurt(c, f, **options):
                    yield f
            finally:
                await c.poller.look()
                c.events.write("fault", id=f.id, kind=kind, what="end", proof=f.proof)
            if not f.proof:
                c.problem(f"{f.id} {kind} on {f.where()}: no proof that it took effect")
        return occur
    return wrap


async def once(occurrence):
    """A fault that is over as soon as it was done."""
    async with occurrence:
        pass
