"""Says in plain words what was tried in a series and what held, from the judge's verdict and the history.

Every promise has a line of its own, with one of four marks: held, broken, told (of no promise), unknown. A figure that
the verdict lacks is unknown, never zero: silence must not read as success.
"""

import statistics

import history
from shapes import whole
from violations import listed

HELD, BROKEN, TOLD, UNKNOWN = "held", "broken", "told", "unknown"
FEW_FAULTS = 12  # kinds named in a sentence
NARROW = "\u202f"  # a space at which no line breaks: a figure stays with its unit


def number(value):
    return f"{value:,}".replace(",", NARROW) if isinstance(value, int) else "?"


def count(value, one, many=None):
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def duration(us):
    """Three digits and a unit that fits; exact enough to compare, short enough for a table."""
    if us is None:
        return "–"
    if us >= 59_999_500:
        hours, rest = divmod(round(us / 1_000_000), 3600)
        return f"{hours}{NARROW}h {rest // 60}{NARROW}min" if hours else f"{rest // 60}{NARROW}min {rest % 60}{NARROW}s"
    for limit, unit, size in ((999.5, "µs", 1), (999_500, "ms", 1_000), (float("inf"), "s", 1_000_000)):
        if us < limit:
            return f"{us / size:.3g}{NARROW}{unit}"
    return "–"


def kind_in_words(kind):
    return str(kind).replace("_", " ").replace("-", " ") or "unnamed"


def chip(series, verdict):
    """(class, word) that stands beside the title of a series."""
    if verdict is None or "as_expected" not in verdict:
        return UNKNOWN, "not judged"
    if verdict.get("expect", series["expect"]) != series["expect"]:
        return UNKNOWN, f"judged as {verdict['expect']}, not as {series['expect']}"
    if listed(verdict, "problems"):
        return BROKEN, "the run had problems"  # whatever was found: a fault that took no effect makes every check pass
    if series["expect"] in ("overlaps", "broken"):
        return (HELD, "caught, as it must be") if verdict["as_expected"] else (BROKEN, "not caught")
    if series["expect"] == "shown":
        overlaps, all_of_them = len(listed(verdict, "overlaps")), broken_rules(verdict)
        if overlaps or not all_of_them:
            return TOLD, f"shown: {count(overlaps, 'overlap') if overlaps else 'no violation'}"
        return TOLD, f"shown: {count(all_of_them, 'violation')}"
    return (HELD, "held") if verdict["as_expected"] else (BROKEN, "did not hold")


def broken_rules(verdict):
    accepted = (verdict.get("stale_writes") or {}).get("fenced_accepted", 0)
    return accepted + sum(len(listed(verdict, field)) for field in ("overlaps", "inversions", "validity"))


def refusals(past):
    errors = {}
    for section in past.sections:
        if section.fate == history.FAILED:
            errors[section.error] = errors.get(section.error, 0) + 1
    often_first = sorted(errors.items(), key=lambda one: -one[1])
    each = ", ".join(f"{kind_in_words(error)} {number(times)}" for error, times in often_first)
    return f"{number(sum(errors.values()))} refused" + (f" ({each})" if errors else "")


def clients(past):
    """Which client, and how it was used: "redlock, guarded and fenced, leases of 2 s"."""
    kinds = []
    for first in past.workers.values():
        used = [word for field, word in (("guard", "guarded"), ("fencing", "fenced")) if first.get(field) is True]
        guards = " and ".join(used)
        ttl = first.get("ttl_us")
        kind = (f"{history.text(first, 'client', 'unknown client')}, {guards or 'neither guarded nor fenced'}"
                + (f", leases of {duration(ttl)}" if whole(ttl) else ""))
        if kind not in kinds:
            kinds.append(kind)
    return f"Client: {'; '.join(kinds)}. " if kinds else ""


def tried(past):
    """Who took what how often, and what was done to them meanwhile."""
    granted = sum(section.fate == history.GRANTED for section in past.sections)
    silent = sum(section.fate == history.UNANSWERED for section in past.sections)
    threads = len({section.thread for section in past.sections})
    workers = len({section.process for section in past.sections})
    names = len({section.name for section in past.sections})
    words = (f"{clients(past)}{count(workers, 'program')} with {count(threads, 'thread')} asked "
             f"{count(len(past.sections), 'time')} for {'one lock' if names == 1 else count(names, 'lock')}: "
             f"{number(granted)} granted, {refusals(past)}")
    words += f", {number(silent)} without an answer." if silent else "."
    kinds = {}
    for fault in past.faults.values():
        kinds[fault["kind"]] = kinds.get(fault["kind"], 0) + 1
    if not kinds:
        return words + " No fault was made."
    named = [f"{kind_in_words(kind)} ×{times}" if times > 1 else kind_in_words(kind) for kind, times in kinds.items()]
    if len(named) > FEW_FAULTS:
        named = named[:FEW_FAULTS] + [f"and {len(kinds) - FEW_FAULTS} more kinds"]
    return (f"{words} Meanwhile {count(len(past.faults), 'fault')} of {count(len(kinds), 'kind')} "
            f"{'was' if len(past.faults) == 1 else 'were'} made: {', '.join(named)}.")


def held(series, verdict):
    """[(mark, sentence)] in the order of weight."""
    if verdict is None:
        return [(UNKNOWN, "Nobody has judged this series: its verdict is missing or cannot be read.")]
    lines = [control(series, verdict), exclusion(series, verdict), fencing(series, verdict), stale(series, verdict)]
    lines += [none_of(series, verdict, "validity", "No lease was believed for longer than its validity allows.",
                      "a lease was believed for longer than its validity allows"),
              none_of(series, verdict, "leftovers", "Nothing was left on the nodes at the end.",
                      "a key was left on a node at the end")]
    lines += [progress(series, verdict), availability(verdict), healing(verdict), problems(verdict)]
    return [line for line in lines if line]


def bad(series):
    """How a broken promise counts where none was made."""
    return BROKEN if series["expect"] == "clean" else TOLD


def control(series, verdict):
    """What a negative control is for: to be found out."""
    if series["expect"] not in ("overlaps", "broken"):
        return None
    what, times = (("overlap", len(listed(verdict, "overlaps"))) if series["expect"] == "overlaps"
                   else ("violation", broken_rules(verdict)))
    if times:
        found = f"{count(times, what)} {'was' if times == 1 else 'were'} found"
        return HELD, f"The checker can fail: this series is made to have violations, and {found}."
    return BROKEN, f"No {what} was found, though this series is made to have some: the checker proves nothing."


def exclusion(series, verdict):
    if "overlaps" not in verdict:
        return UNKNOWN, "The verdict says nothing of overlaps."
    times = len(verdict["overlaps"])
    if times:
        return bad(series), f"{count(times, 'time')} two held the same lock at once."
    return (HELD if series["expect"] == "clean" else TOLD), "No two held the same lock at the same time."


def none_of(series, verdict, field, good, wrong):
    if field not in verdict:
        return None
    times = len(verdict[field])
    if times:
        return bad(series), f"{count(times, 'time')} {wrong}."
    return (HELD, good) if series["expect"] == "clean" else None


def fencing(series, verdict):
    return none_of(series, verdict, "inversions", "Every later holder of a lock had a higher fencing number.",
                   "a later holder of a lock had no higher fencing number")


def stale(series, verdict):
    writes = verdict.get("stale_writes")
    if writes is None:
        return None
    plain, refused, accepted = (writes.get(field) for field in ("plain", "fenced_refused", "fenced_accepted"))
    if not (plain or refused or accepted):
        return (HELD, "No write came too late, after those of a later holder.") if series["expect"] == "clean" else None
    words = (f"Writes that came too late, after those of a later holder: the register without protection took "
             f"{number(plain)}; the one that checks fencing numbers refused {number(refused)} and took {number(accepted)}.")
    return (bad(series) if accepted else HELD if series["expect"] == "clean" else TOLD), words


def progress(series, verdict):
    longest, stalls = verdict.get("longest_stall_us"), listed(verdict, "stalls")
    if longest is None and not stalls:
        return None
    words = f"The longest time that a wanted lock was not granted while a quorum could vote: {duration(longest)}."
    return TOLD, words + (f" It took a second or more {count(len(stalls), 'time')}." if stalls else "")


def availability(verdict):
    rows = [row for row in listed(verdict, "availability")
            if row.get("tried", 0) > 0 and "granted_within_3x_median" in row]
    if not rows:
        return None
    sums = {}
    for row in rows:
        asked, quick = sums.get(row.get("nodes_down", "some"), (0, 0))
        sums[row.get("nodes_down", "some")] = asked + row["tried"], quick + row["granted_within_3x_median"]
    each = ", ".join(f"{100 * quick / asked:.1f} % of {number(asked)} with {away} away"
                     for away, (asked, quick) in sorted(sums.items(), key=lambda one: str(one[0])))
    return TOLD, f"Requests for a free lock that were granted within three times the healthy median: {each}."


def healing(verdict):
    times = [phase.get("first_grant_after_heal_us") for phase in listed(verdict, "phases")]
    times = [time for time in times if time is not None]
    if not times:
        return None
    return TOLD, (f"After a fault healed and a quorum could vote, the first lock was granted within "
                  f"{duration(max(times))} at the latest, in the median {duration(statistics.median(times))} "
                  f"({count(len(times), 'fault')}).")


def problems(verdict):
    found = listed(verdict, "problems")
    if not found:
        return None
    return BROKEN, f"The run itself has {count(len(found), 'problem')}: {'; '.join(found[:10])}."


def overall(chips):
    """(class, sentence) for the very top."""
    broken = sum(mark == BROKEN for mark, _ in chips)
    unknown = sum(mark == UNKNOWN for mark, _ in chips)
    if broken:
        return BROKEN, f"{broken} of {count(len(chips), 'series', 'series')} did not go as expected."
    if unknown:
        return UNKNOWN, f"{unknown} of {count(len(chips), 'series', 'series')} could not be judged."
    return HELD, "Everything went as expected."
