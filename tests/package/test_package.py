"""An installed redlock works without its source tree: installed under DESTDIR and moved; and as Debian packages.

Both are used (use_installed.py) where source and build tree are hidden by empty folders, in a mount namespace that ends
with the test. The packages are installed by dpkg into a copy of the running system, an overlay that ends likewise. That
takes the right to mount; where the test's user has none, it says so in a line and looks at what can be looked at.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["REDLOCK_SOURCE"])
BUILD = pathlib.Path(os.environ["REDLOCK_BUILD"])
HERE = pathlib.Path(__file__).resolve().parent

# The caller's settings, a compiler cache among them, have no say.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
HIDE = 'for path; do [ "$path" = -- ] && break; mount -t tmpfs none "$path" || exit; shift; done; shift; cd / && exec "$@"'
# $1: an empty folder; what is in $2 goes to the new root's /tmp; then folders to hide, --, a command.
ENTER = """set -e
base=$1 cargo=$2 root=$1/root; shift 2
mount -t tmpfs none "$base"
mkdir "$base/upper" "$base/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" none "$root"
mount -t tmpfs none "$root/tmp"
cp -r "$cargo/." "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
while [ "$1" != -- ]; do [ ! -d "$root$1" ] || mount -t tmpfs none "$root$1"; shift; done
shift
exec chroot "$root" "$@"
"""
INSTALL_AND_USE = """set -e
cd /tmp
dpkg --no-triggers -i ./*.deb
for package in {packages}; do [ "$(dpkg-query -W -f '${{db:Status-Status}}' "$package")" = installed ]; done
python3 /tmp/use_installed.py /usr g++ "$@"
dpkg --no-triggers -P {packages}
for path in /usr/bin/redlock /usr/include/redlock /usr/lib/*/libredlock*; do [ ! -e "$path" ] || {{ echo "left behind: $path"; exit 1; }}; done
"""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**ENVIRONMENT, **options.pop("env", {})}, **options)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode} of {' '.join(map(str, words))[:300]}\n{done.stdout}")
    return done.stdout


def works(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT).returncode == 0


def namespace():
    """The words that give a command mounts of its own; none where that is not allowed."""
    for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        with tempfile.TemporaryDirectory() as place:
            if works(*words, "mount", "-t", "tmpfs", "none", place):
                return words
    return []


class Package(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="redlock-package-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.words = namespace()
        self.trees = [BUILD, SOURCE] if SOURCE not in BUILD.parents else [SOURCE]
        self.base, self.cargo = self.work / "base", self.work / "cargo"
        self.base.mkdir()
        shutil.copytree(HERE / "consumer", self.cargo / "consumer")
        shutil.copy(HERE / "use_installed.py", self.cargo)

    def enter(self, *command):
        """The words that run a command in an overlay of this system, where the trees are hidden."""
        return [*self.words, "sh", "-c", ENTER, "sh", self.base, self.cargo, *self.trees, "--", *command]

    def use(self, prefix, compilers):
        command = [sys.executable, self.cargo / "use_installed.py", prefix, compilers]
        if self.words:
            print(run(*self.words, "sh", "-c", HIDE, "sh", *self.trees, "--", *command, *self.trees), end="")
        else:
            print("the source tree stays in sight: this user may make no mount namespace", file=sys.stderr)
            print(run(*command, cwd="/"), end="")

    def test_moved(self):
        run("cmake", "--install", BUILD, env={"DESTDIR": str(self.work / "stage")})
        there = next((self.work / "stage").rglob("include/redlock")).parent.parent
        moved = self.work / "moved here"
        there.rename(moved)
        text = "".join(path.read_text() for path in moved.rglob("*") if path.suffix in (".cmake", ".pc"))
        for tree in (str(SOURCE), str(BUILD), str(self.work)):
            self.assertNotIn(tree, text)
        self.use(moved, "g++,clang++")

    def test_packages(self):
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", self.work / "debs")
        debs = sorted((self.work / "debs").glob("*.deb"))
        fields = {run("dpkg-deb", "-f", deb, "Package").strip(): deb for deb in debs}
        runtime = next(name for name in fields if name.startswith("libredlock0") or name.startswith("libredlock1"))
        self.assertEqual(set(fields), {runtime, "libredlock-dev", "redlock"})
        self.assertRegex(run("dpkg-deb", "-f", fields[runtime], "Depends"), r"libhiredis0\.14.*libssl3.*libuv1")
        self.assertIn(f"{runtime} (= ", run("dpkg-deb", "-f", fields["libredlock-dev"], "Depends"))
        tools = run("dpkg-deb", "-c", fields["redlock"])
        for file in ("man/man1/redlock.1.gz", "bash-completion/completions/redlock", "zsh/vendor-completions/_redlock",
                     "fish/vendor_completions.d/redlock.fish"):
            self.assertIn("/usr/share/" + file, tools)
        for name, deb in fields.items():
            self.assertIn(f"/usr/share/doc/{name}/copyright", run("dpkg-deb", "-c", deb))

        if self.words and works(*self.enter("touch", "/var/lib/dpkg/may-we")):
            for deb in debs:
                shutil.copy(deb, self.cargo)
            install = INSTALL_AND_USE.format(packages=" ".join(fields))
            print(run(*self.enter("sh", "-c", install, "sh", *self.trees)), end="")
        else:
            print("the packages are unpacked and not installed: that takes root, and the right to mount", file=sys.stderr)
            for deb in debs:
                run("dpkg-deb", "-x", deb, self.work / "unpacked")
            self.use(self.work / "unpacked/usr", "g++")


if __name__ == "__main__":
    unittest.main()
