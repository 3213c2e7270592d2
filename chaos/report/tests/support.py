"""What both tests of the page share: folders that end with the test, the command, and a look into a page."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.path.dirname(HERE)
MAKE = os.path.join(REPORT, "make")
sys.path[:0] = [REPORT, HERE, os.path.join(REPORT, "..", "..", "scripts")]
sys.dont_write_bytecode = True


def make(*arguments):
    return subprocess.run([sys.executable, MAKE, *arguments], capture_output=True, text=True, timeout=600, check=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def packed(page, index=0):
    """The series in a page, as its script sees it."""
    text = re.search(rf'<script type="text/plain" id="data-{index}">([^<]*)</script>', page).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-report-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def says(self, text, words):
        self.assertTrue(words in text, f"the page does not say: {words}")  # not assertIn, which prints the page

    def says_not(self, text, words):
        self.assertFalse(words in text, f"the page says: {words}")

    def make(self):
        """The page of the run in the test's folder."""
        done = make(self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return read(self.path("report.html"))
