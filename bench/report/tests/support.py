"""What the tests of the page share: a recorded run with tiny counts (results.json), and the command."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE = os.path.join(HERE, "..", "make")
sys.dont_write_bytecode = True


def recorded():
    with open(os.path.join(HERE, "results.json"), encoding="utf-8") as file:
        return json.load(file)


class InFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="redlock-bench-page-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def made(self, results, *arguments):
        """results: an object, or the text of the file. The command's end, and the page if there is one."""
        path, page = os.path.join(self.folder, "results.json"), os.path.join(self.folder, "report.html")
        if os.path.exists(page):
            os.unlink(page)
        with open(path, "w", encoding="utf-8") as file:
            file.write(results if isinstance(results, str) else json.dumps(results))
        done = subprocess.run([sys.executable, MAKE, path, *arguments], capture_output=True, text=True, timeout=120, check=False)
        if not os.path.exists(page):
            return done, None
        with open(page, encoding="utf-8") as file:
            return done, file.read()
