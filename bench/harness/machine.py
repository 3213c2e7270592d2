"""On what it was measured: figures without this are worth nothing a year later."""
import os
import platform
import re
from pathlib import Path

from .nodes import redis_version
from .processes import Failed, output


def cpu_model():
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else platform.machine()


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def system_name():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (AttributeError, OSError, KeyError):  # Python 3.9 does not read that file, or there is none
        return platform.system()


def build_facts(build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    value = lambda name: (re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE) or [None, ""])[1]
    compiler = value("CMAKE_CXX_COMPILER")
    try:
        compiler = output([compiler, "--version"]).splitlines()[0]
    except Failed:
        pass  # it was built elsewhere
    return {"build": value("CMAKE_BUILD_TYPE") or "no build type", "compiler": compiler}


def commit(root):
    try:
        return output(["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12"]).strip()
    except Failed:
        return None  # a release without its history


def facts(root, build):
    version = re.search(r'define REDLOCK_VERSION "?([0-9.]+)', (root / "include/redlock/version.h").read_text(encoding="utf-8"))
    return {
        "machine": {"processor": cpu_model(), "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory_gib(), 1),
                    "kernel": platform.release(), "system": system_name(),
                    "load_before": round(os.getloadavg()[0], 2)},
        "versions": {"redlock": version.group(1) if version else "?", "commit": commit(root), "redis": redis_version(),
                     **build_facts(build)},
    }
