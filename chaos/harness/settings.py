"""The figures of a run. Short ttls, so that settling, which takes a max_ttl, is short too."""
from dataclasses import dataclass, field


@dataclass
class Settings:
    seed: int = 1
    long: bool = False
    hours: float = 0.0
    fault_s: float = 1.5  # how long a fault lasts, about
    after_s: float = 0.5  # what the judge sees as "after"
    before_s: float = 1.0
    ttl_s: float = 2.0
    max_ttl_s: float = 2.0
    grace_s: float = 0.5  # what settling takes longer where a former master may live on
    # Threads of each client process, and how many of a hundred sections are on locks of the thread's own. The first
    # process meets nobody else and is spared: its waits tell how soon free locks are granted.
    workers: list = field(default_factory=lambda: [(2, 100), (5, 20), (5, 20), (5, 20)])
    rolling: int = 2
    names: list = field(default_factory=lambda: ["stock-1", "stock-2", "stock-3", "stock-4"])
    usual_delay_us: int = 10000  # each way, as between towns
    usual_jitter_us: int = 2000

    @property
    def doors(self):
        return len(self.workers) + 1  # the last one is the harness's own


def short(seed):
    return Settings(seed=seed)


def long(seed, hours):
    return Settings(seed=seed, long=True, hours=hours, fault_s=4.0, after_s=2.0, before_s=2.0, rolling=5)
