"""The shared library exports what the public headers promise, all of it and nothing else.

usage: test_symbols.py libredlock.so libredlock.a INCLUDE-FOLDER SONAME
"""

import pathlib
import re
import subprocess
import sys

INNER = re.compile(r"\bredlock::(\w+::)*(core|client|redis|uv|detail)::")
# What a program that uses the library has to have installed; anything more would be news to the packages.
NEEDED = {"libssl", "libcrypto", "libhiredis", "libuv", "libstdc++", "libgcc_s", "libc", "libm"}


def lines(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def subject(symbol):
    """typeinfo for X: X; the parameters do not count."""
    return re.sub(r"^(typeinfo|typeinfo name|vtable|guard variable) for ", "", symbol)


def exported(shared):
    for line in lines("nm", "-DC", "--defined-only", shared):
        kind, symbol = line[17:].split(" ", 1)
        if kind != "A":  # the version itself
            yield kind, symbol


def exports(shared, soname):
    symbols = list(exported(shared))
    if len(symbols) < 50:
        yield f"only {len(symbols)} symbols are exported"
    version = "@@REDLOCK_" + soname.split(".so.")[1]
    for _, symbol in symbols:
        name = subject(symbol)
        if not name.startswith("redlock::") or INNER.match(name.split("(")[0]):
            yield f"exported, and not of the public headers: {symbol}"
        if not symbol.endswith(version):
            yield f"exported without the version {version[2:]}: {symbol}"


def hidden(static, headers):
    """Functions outside the inner namespaces, named in a public header, that do not leave the library."""
    for line in lines("readelf", "-CsW", static):
        columns = line.split(None, 7)
        if len(columns) < 8 or columns[4:6] != ["GLOBAL", "HIDDEN"] or columns[6] == "UND":
            continue
        name = re.sub(r"\[abi:\w+\]", "", subject(columns[7])).split("(")[0]
        if name.startswith("redlock::") and not INNER.match(name) and re.search(rf"\b{re.escape(name.split('::')[-1])}\(", headers):
            yield f"in a public header, and not exported; say REDLOCK_API there: {columns[7]}"


def foreign(static):
    """Code of others inside the static library would collide with a program's own copy."""
    for line in lines("nm", "-C", "--defined-only", "--extern-only", static):
        found = re.match(r"[0-9a-f]{16} ([TDBR]) (.*)", line)
        if found and not subject(found[2]).startswith("redlock::"):
            yield f"in the static library, and not ours: {found[2]}"


def dynamic(shared, soname):
    text = "\n".join(lines("readelf", "-dW", shared))
    found = re.findall(r"SONAME\).*\[(.*)\]", text)
    if found != [soname]:
        yield f"the SONAME is {found} and not {soname}"
    for library in re.findall(r"NEEDED\).*\[(.*)\]", text):
        if library.split(".so")[0] not in NEEDED:
            yield f"it needs {library}"
    if "RPATH" in text or "RUNPATH" in text:
        yield "it carries a path of where it was built"


def main():
    shared, static, include, soname = sys.argv[1:]
    headers = "".join(path.read_text() for path in pathlib.Path(include).rglob("*.h"))
    faults = [*exports(shared, soname), *hidden(static, headers), *foreign(static), *dynamic(shared, soname)]
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else 0)


main()
