"""What somebody does who has installed redlock and has nothing else of it: finds it with CMake and with pkg-config,
builds a program with the shared and with the static library, runs it, and locks from the shell on real servers.

Runs by itself, copied with the folder `consumer` to where the source tree cannot be seen.

usage: use_installed.py PREFIX COMPILER[,COMPILER...] [PATH-THAT-MUST-BE-HIDDEN...]
"""

import ctypes
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
STATIC = ["--static", "--define-variable=redlock_library=-l:libredlock.a"]
BOGUS = """cmake_minimum_required(VERSION 3.25)
project(bogus LANGUAGES NONE)
find_package(redlock {} CONFIG REQUIRED)
"""


def run(*words, fails=False, **options):
    """What it printed; anything but the exit code that is due ends this script."""
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if (done.returncode != 0) != fails:
        sys.exit(f"exit code {done.returncode} of {shlex.join(map(str, words))}\n{done.stdout}")
    return done.stdout


def check(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def runs(program, version, shared):
    check(run(program).strip() == f"redlock {version}", f"{program} prints the version {version}")
    needs = "libredlock.so" in run("readelf", "-d", program)
    check(needs == shared, f"{program} {'needs' if shared else 'does not need'} libredlock.so")


def with_cmake(prefix, compiler, version, work):
    build = work / f"cmake-{compiler}"
    run("cmake", "-S", HERE / "consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    for kind in ("shared", "static"):
        runs(build / kind / f"consumer_{kind}", version, kind == "shared")


def with_pkg_config(prefix, libraries, compiler, version, work):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}

    def flags(*words):
        return shlex.split(run("pkg-config", *words, "redlock-testing", "libuv", env=environment))

    check(run("pkg-config", "--modversion", "redlock", env=environment).strip() == version, "pkg-config knows the version")
    compiled = work / f"{compiler}.o"
    run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags("--cflags"), "-c", HERE / "consumer/main.cpp", "-o", compiled)
    run(compiler, compiled, "-o", work / f"{compiler}-shared", *flags("--libs"), f"-Wl,-rpath,{libraries}")
    runs(work / f"{compiler}-shared", version, True)
    run(compiler, compiled, "-o", work / f"{compiler}-static", *flags("--libs", *STATIC))
    runs(work / f"{compiler}-static", version, False)


def refusals(libraries, work):
    """What cannot be found is said in words that help."""
    for asked, answer in (
            ("COMPONENTS telepathy", 'there is no component "telepathy"; there are: shared, static, async, testing'),
            ("COMPONENTS shared static", "shared and static exclude each other"),
            ("99.0", "requested version")):
        folder = pathlib.Path(tempfile.mkdtemp(dir=work))
        (folder / "CMakeLists.txt").write_text(BOGUS.format(asked))
        said = run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-Dredlock_DIR={libraries}/cmake/redlock",
                   fails=True)
        check(answer in " ".join(said.split()), f"find_package(redlock {asked}) says: {answer}\n{said}")


def headers_are_used(prefix):
    ours = {path.name for path in (prefix / "include/redlock").iterdir()}
    text = (HERE / "consumer/main.cpp").read_text()
    missed = {name for name in ours if f"#include <redlock/{name}>" not in text}
    check(ours and not missed, f"the consumer includes every public header; not {missed}")


def on_servers(program, work):
    """Three masters on unix sockets, so that no port is taken; a command runs under the lock, and it is free again."""
    def end_with_us():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

    sockets = [work / f"{number}.sock" for number in range(3)]
    servers = [subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(work),
                                 "--logfile", str(socket) + ".log"], preexec_fn=end_with_us) for socket in sockets]
    try:
        end = time.monotonic() + 60
        while not all(socket.exists() for socket in sockets):
            check(time.monotonic() < end, "three redis-servers start")
            time.sleep(0.02)
        environment = {**os.environ, "REDLOCK_NODES": ",".join(f"unix://{socket}" for socket in sockets)}
        run(program, "init", env=environment)
        script = '"$0" inspect it | grep -q "$REDLOCK_TOKEN" && echo held'
        check(run(program, "run", "it", "--", "sh", "-c", script, program, env=environment) == "held\n", "run holds the lock")
        check("free" in run(program, "inspect", "it", env=environment), "and frees it")
    finally:
        for server in servers:
            server.kill()
            server.wait()


def main():
    prefix, compilers, hidden = pathlib.Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    for path in hidden:
        check(not os.path.exists(path) or not os.listdir(path), f"{path} cannot be seen")
    libraries = next(prefix.glob("lib*/**/pkgconfig/redlock.pc")).parent.parent
    version = run(prefix / "bin/redlock", "--version").split()[1]
    headers_are_used(prefix)
    with tempfile.TemporaryDirectory(prefix="redlock-use-") as name:
        work = pathlib.Path(name)
        on_servers(prefix / "bin/redlock", work)
        refusals(libraries, work)
        for compiler in compilers:
            with_cmake(prefix, compiler, version, work)
            with_pkg_config(prefix, libraries, compiler, version, work)


main()
