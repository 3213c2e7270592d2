"""What the judge found wrong, each with its place on the time axis and the sections that it is about.

The judge's words are taken as they are: the page neither adds a violation nor leaves one out. What has no time (a key
left behind, a fault without proof) is told in the summary alone.
"""

import history

def listed(verdict, field):
    return (verdict or {}).get(field, [])


def key_of(claim):
    return history.process_of(claim.get("w", "")), claim.get("id")


def claims_in(verdict):
    pairs = listed(verdict, "overlaps") + listed(verdict, "inversions")
    return [pair[side] for pair in pairs for side in ("first", "second") if side in pair] + listed(verdict, "validity")


def sections_named(verdict, past):
    """(process, id) -> sections, of those that the verdict names: an index of all would be larger than the sections."""
    named = {key_of(claim): [] for claim in claims_in(verdict)}
    for section in past.sections if named else ():
        if (section.process, section.id) in named:
            named[section.process, section.id].append(section)
    return named


def section_of(claim, named):
    """The section that a claim in the verdict means; ids of a restarted process are told apart by the grant."""
    found = named.get(key_of(claim), [])
    return next((section for section in found if section.answered == claim.get("granted")), found[0] if found else None)


def find_violations(verdict, past, place, began):
    found, named = [], sections_named(verdict, past)
    for overlap in listed(verdict, "overlaps"):
        pair = [section_of(overlap.get(side, {}), named) for side in ("first", "second")]
        found.append(entry("overlap", overlap, pair, place, began))
    for inversion in listed(verdict, "inversions"):
        pair = [section_of(inversion.get(side, {}), named) for side in ("first", "second")]
        found.append(entry("inversion", inversion, pair, place, began))
    for claim in listed(verdict, "validity"):
        found.append(entry("validity", claim, [section_of(claim, named)], place, began))
    for stall in listed(verdict, "stalls"):
        found.append(entry("stall", stall, [], place, began))
    return sorted(found, key=lambda violation: violation["from"])


def real(violations):
    """Places of those that break a promise; a stall is only told, as the judge does."""
    return [place for place, one in enumerate(violations) if one["kind"] != "stall"]


def entry(kind, found, sections, place, began):
    sections = [section for section in sections if section is not None]
    begin, end = found.get("from"), found.get("to")
    if begin is None:  # where the judge gives no time, the last of its sections says when
        begin = max((section.answered for section in sections), default=began)
        end = max((section.end or section.answered for section in sections), default=begin)
    names = [found.get("name")] + [section.name for section in sections]
    end = begin if end is None else end
    whose = [found[side] for side in ("first", "second") if side in found] or [found]
    return {"kind": kind, "from": max(0, begin - began), "to": max(0, end - began, begin - began),
            "name": next((name for name in names if name), ""), "fault": found.get("fault"),
            "what": found.get("what", ""),
            "sections": [place[id(section)] for section in sections if id(section) in place],
            "whose": [[one["w"], one.get("id"), one.get("fence")] for one in whose if "w" in one]}
