"""Pages that load nothing: what stands in all of them (frame.html), D3 out of Debian's package, and how a page is written.
For the page of a chaos run (chaos/report) and that of a benchmark (bench/report)."""

import argparse
import os
import re
import signal
import sys

# Debian's package first; then where `npm install d3@5` puts it.
D3 = ("/usr/share/nodejs/d3/dist/d3.min.js", "node_modules/d3/dist/d3.min.js")
HERE = os.path.dirname(os.path.abspath(__file__))


class NoPage(Exception):
    """Why there is none: an exit code and a line."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Arguments(argparse.ArgumentParser):
    """Of a command that makes a page out of what it names `what`."""

    def __init__(self, path, what, **more):
        super().__init__(prog="make", **more)
        self.line = f"usage: {path} {what} [-o FILE] [--d3 FILE]"
        self.add_argument("--d3", metavar="FILE", help="d3.min.js of version 5 (default: that of Debian's node-d3)")

    def error(self, message):
        print(f"make: {message}; {self.line}", file=sys.stderr)
        sys.exit(64)


def command(main):
    """Runs it. Why there is no page is one line; when it is stopped, what was half written goes with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except NoPage as why:
        print("make: " + " ".join(str(why).splitlines()), file=sys.stderr)
        sys.exit(why.code)
    except KeyboardInterrupt:
        sys.exit(130)


def read_d3(chosen):
    """The text of D3."""
    path = chosen or next((one for one in D3 if os.path.isfile(one)), None)
    if path is None:
        raise NoPage(69, f"D3 is missing ({D3[0]}); install it: apt-get install node-d3, or scripts/setup test")
    remedy = "give a d3.min.js of version 5, or install Debian's node-d3 and leave --d3 out"
    try:
        text = read(path)
    except FileNotFoundError:
        raise NoPage(69, f"{path}: not there; {remedy}") from None
    except OSError as error:
        raise NoPage(69, f"{path}: {error.strerror}; {remedy}") from None
    except UnicodeDecodeError:
        raise NoPage(69, f"{path}: not a text; {remedy}") from None
    if not version_of(text).startswith("5."):
        raise NoPage(69, f"{path}: D3 {version_of(text)}; {remedy}")
    return text


def version_of(d3):
    found = re.search(r"v(\d+\.\d+\.\d+)", d3[:200])
    return found.group(1) if found else "of unknown version"


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def script_of(folder, names):
    return "\n".join(read(folder, name) for name in names)


def assemble(folder, title, parts, data, scripts, d3):
    """The page whose body (page.html), style and scripts lie in `folder`; all that it is filled with is HTML."""
    body = {**parts, "d3_version": version_of(d3), "d3_licence": read(HERE, "d3_licence.html")}
    return fill(read(HERE, "frame.html"), {
        "title": title,
        "style": read(folder, "style.css"),
        "body": fill(read(folder, "page.html"), body),
        "data": data,
        "d3": inline(d3),
        "script": inline(script_of(folder, scripts)),
    })


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
        raise NoPage(73, f"{path}: cannot be written: {error.strerror}") from None
    finally:
        if os.path.exists(beside):  # also when it was interrupted
            os.unlink(beside)
