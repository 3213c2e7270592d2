"""What the judge's verdict and run.json must look like, field by field.

Whatever does not fit is left out and named, so that the rest of the program never meets a text where a number should be:
the judge may be of another version than the page.
"""


class Odd(Exception):
    pass


def whole(value):
    """True for an integer that a page can count with; JSON's true is none."""
    return type(value) is int and abs(value) < 2**53


NUMBER, TEXT, FLAG, RATE, ANY_KEY = "a whole number", "a text", "true or false", "a number", "*"
CLAIM = {"w": TEXT, "id": NUMBER, "granted": NUMBER, "end": NUMBER, "fence": NUMBER}
PAIR = {"name": TEXT, "from": NUMBER, "to": NUMBER, "first": CLAIM, "second": CLAIM, "fault": TEXT}
RATES = {"per_s": RATE, "wait_p50_us": RATE, "wait_p99_us": RATE}
VERDICT = {
    "expect": TEXT, "as_expected": FLAG, "sections": NUMBER, "grants": NUMBER, "workers": NUMBER,
    "overlaps": [PAIR], "inversions": [PAIR], "leftovers": [TEXT], "problems": [TEXT],
    "stale_writes": {"plain": NUMBER, "fenced_refused": NUMBER, "fenced_accepted": NUMBER},
    "validity": [{"what": TEXT, "w": TEXT, "id": NUMBER, "name": TEXT, "from": NUMBER, "to": NUMBER, "fault": TEXT}],
    "stalls": [{"name": TEXT, "from": NUMBER, "to": NUMBER, "fault": TEXT}],
    "longest_stall_us": NUMBER,
    "phases": [{"scenario": TEXT, "fault": TEXT, "before": RATES, "during": RATES, "after": RATES,
                "first_grant_after_heal_us": NUMBER}],
    "availability": [{"fault": TEXT, "nodes_down": NUMBER, "tried": NUMBER, "granted_within_3x_median": NUMBER}],
    "faults": [{"id": TEXT, "kind": TEXT, "proof": TEXT, "ok": FLAG}],
}
RUN = {
    "seed": NUMBER, "mode": TEXT, "began_us": NUMBER, "ended_us": NUMBER, "wall_began": TEXT, "command": TEXT,
    "nodes": [{"id": NUMBER, "label": TEXT, "address": TEXT}], "versions": {ANY_KEY: TEXT},
}


def fit(value, shape, where, notes):
    """The part of value that has the shape. Unknown fields and null are left out in silence, odd ones with a note."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise Odd("an object")
        return {key: fitted for key, one in value.items()
                for fitted in kept(one, shape.get(key, shape.get(ANY_KEY)), f"{where}.{key}", notes)}
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise Odd("a list")
        return [fitted for place, one in enumerate(value) for fitted in kept(one, shape[0], f"{where}[{place}]", notes)]
    fits = {NUMBER: whole(value), TEXT: isinstance(value, str), FLAG: isinstance(value, bool),
            RATE: type(value) in (int, float) and abs(value) < 2**53}  # false for NaN
    if not fits[shape]:
        raise Odd(shape)
    return value


def kept(value, shape, where, notes):
    if value is None or shape is None:
        return []
    try:
        return [fit(value, shape, where, notes)]
    except Odd as odd:
        notes.add(f"{where} must be {odd} and was left out")
        return []
