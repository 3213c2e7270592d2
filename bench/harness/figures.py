"""Statistics. Single times on a shared machine say little, so ratios are taken batch by batch, between clients that took
turns, and the median of these is quoted."""
import statistics

PERCENTS = (0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.9, 100)


def quantile(ordered, percent):
    """The value that `percent` of them do not exceed; of sorted ones, as bench/samples.cpp takes it."""
    return ordered[min(len(ordered) - 1, int(percent / 100 * len(ordered)))]


def spread(values):
    """None for no values at all: the page leaves out what is not there."""
    if not values:
        return None
    ordered = sorted(values)
    return {"n": len(ordered), "p50": quantile(ordered, 50), "p95": quantile(ordered, 95), "p99": quantile(ordered, 99),
            "max": ordered[-1]}


def distribution(values):
    ordered = sorted(values)
    return [[percent, quantile(ordered, percent)] for percent in PERCENTS] if ordered else []


def ratio(of, to):
    """The median of the paired ratios; where a batch of either has nothing, the pair is left out."""
    pairs = [a / b for a, b in zip(of, to) if a is not None and b]
    return statistics.median(pairs) if pairs else None


def median(values):
    return statistics.median(values) if values else None


def shares_apart(shares):
    """How far from even: what the luckiest process had, over what the unluckiest had. None: that one had nothing."""
    return max(shares) / min(shares) if shares and min(shares) > 0 else None
