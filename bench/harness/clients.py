"""The drivers: programs of several clients that speak one line protocol (README.md), and the turns that they take."""
import json
import time

from . import figures
from .processes import Failed, Talker


class Peer:
    """A kind of client: how its driver is started, and what the page calls it."""

    def __init__(self, name, title, argv, env=None, bound=False, least_share=1.0, **options):
        self.name, self.title, self.argv, self.env, self.options = name, title, argv, env, options
        self.bound = bound
        self.share = least_share  # of the pairs of a batch: slow ones do fewer

    def start(self, mode, ports, **options):
        words = [*self.argv, "--mode", mode, "--ports", ",".join(map(str, ports))]
        for name, value in {"prefix": self.name, **self.options, **options}.items():
            words += ["--" + name, value]
        return Talker(words, self.env)

    def described(self):
        return {"name": self.name, "title": self.title, "bound": self.bound}


def ready(drivers):
    for name, driver in drivers.items():
        if (line := driver.line()) != "READY":
            raise Failed(f"{name}: its driver says '{line}' where READY was to come")


def by_turns(drivers, rounds, size_of, progress):
    """All resident, small batches, in an order that turns round each time: {name: [batch, ...]}."""
    batches = {name: [] for name in drivers}
    for i in range(rounds):
        for name in list(drivers)[:: 1 if i % 2 else -1]:
            batches[name].append(json.loads(drivers[name].ask(size_of(name))))
        progress(i + 1, rounds)
    return batches


def middle(batch, what):
    return figures.median(batch[f"{what}_us"])


def pair(batch):
    """Acquire and release; None where nothing was had, or nothing could be given back."""
    both = middle(batch, "acquire"), middle(batch, "release")
    return None if None in both else sum(both)


def summary(batches, base):
    """Of one client, with its ratios to the batches of `base`."""
    rate = lambda batch: batch["ops"] / batch["wall_us"] * 1e6
    done = sum(batch["ops"] for batch in batches)
    return {
        "acquire_us": figures.spread([t for batch in batches for t in batch["acquire_us"]]),
        "release_us": figures.spread([t for batch in batches for t in batch["release_us"]]),
        "per_s": figures.median([rate(batch) for batch in batches]),
        "cpu_us": sum(batch["cpu_us"] for batch in batches) / max(1, done),
        "failed": sum(batch["failed"] + batch["errors"] for batch in batches),
        "ratio": {
            "acquire": figures.ratio([middle(b, "acquire") for b in batches], [middle(b, "acquire") for b in base]),
            "pair": figures.ratio([pair(b) for b in batches], [pair(b) for b in base]),
            "per_s": figures.ratio([rate(b) for b in batches], [rate(b) for b in base]),
        },
    }


def settle():
    """What was started or ended just now should not be in the first batch."""
    time.sleep(0.1)
