"""What pages that load nothing have in common: D3 out of Debian's package, templates, scripts within the page, and how a
page is written. For the page of a chaos run and for that of a benchmark (bench/report)."""

import os
import re

# Debian's package first; then where `npm install d3@5` puts it.
D3 = ("/usr/share/nodejs/d3/dist/d3.min.js", "node_modules/d3/dist/d3.min.js")
HERE = os.path.dirname(os.path.abspath(__file__))


class NoPage(Exception):
    """Why there is none: an exit code and a line."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def library(chosen):
    """The text of D3."""
    for path in (chosen,) if chosen else D3:
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    if chosen:
        raise NoPage(69, f"{chosen}: not there; give a d3.min.js of version 5, or install Debian's node-d3 and leave --d3 out")
    raise NoPage(69, f"D3 is missing ({D3[0]}); install it: apt-get install node-d3, or scripts/setup test")


def d3_parts(d3):
    """What templates need of it: the script, its version, its licence."""
    version = re.search(r"v(\d+\.\d+\.\d+)", d3[:200])
    with open(os.path.join(HERE, "page", "d3_licence.html"), encoding="utf-8") as file:
        return {"d3": inline(d3), "d3_version": version.group(1) if version else "of unknown version",
                "d3_licence": file.read()}


def fill(template, values):
    """One pass, so that nothing that was put in is looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match.group(1)], template)


def inline(script):
    """A script inside the page must not contain what ends it."""
    return re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)


def write(path, text):
    """All or nothing: who reads the page meanwhile sees the old one."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise NoPage(73, f"{path}: cannot be written: {error.strerror}") from None
