#!/usr/bin/env python3
"""The page without a browser: what it says of a run, of one that is not whole, and what bad input gets."""

import copy
import json
import re
import unittest

from support import InFolder, recorded


class Page(InFolder):
    def page(self, results):
        done, page = self.made(results)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return page

    def says(self, page, *words):
        for some in words:
            self.assertTrue(some in page, f"the page does not say: {some}")  # not assertIn, which prints the page

    def test_the_machine_the_day_and_every_set(self):
        results = recorded()
        page = self.page(results)
        self.says(page, results["machine"]["processor"], results["machine"]["kernel"], results["versions"]["redis"],
                  results["began"][:10], "bench/run all --brief", "its figures mean nothing")
        for name in results["sets"]:
            self.says(page, f'<section id="{name}">', f'data-set="{name}"')
        self.assertFalse("Not measured in this run" in page)

    def test_noise_stands_beside_ratios(self):
        page = self.page(recorded())
        captions = re.findall(r"<summary>(\d+ (?:node|worker)s?[^<]*)</summary>", page)
        self.assertGreater(len(captions), 5)
        for caption in captions:
            self.assertRegex(caption, r"the floor against itself: [\d.]+\u202f×")

    def test_any_part_of_the_sets(self):
        for name in recorded()["sets"]:
            results = recorded()
            results["sets"] = {name: results["sets"][name]}
            with self.subTest(name):
                page = self.page(results)
                self.assertEqual(page.count('<section id="'), 2)
                self.says(page, f'<section id="{name}">', "Not measured in this run")
        results = recorded()
        results["sets"] = {}
        self.says(self.page(results), "<code>bench/run latency</code>")

    def test_a_client_of_which_nothing_was_had(self):
        results = recorded()
        member = results["sets"]["latency"]["groups"][0]["members"][2]
        member.update(acquire_us=None, release_us=None, failed=7, ratio={"acquire": None, "pair": None, "per_s": None})
        results["sets"]["contention"]["cases"][0]["members"][0] = {
            "name": "floor", "title": "the floor", "bound": False, "stuck": "it did not answer within 90 s"}
        self.says(self.page(results), "it did not answer within 90 s")

    def test_missed_promises_and_overlaps_stand_out(self):
        results = recorded()
        results["sets"]["promises"]["rows"][0].update(holds=False)
        results["sets"]["contention"]["cases"][0]["members"][1]["overlaps"] = 3
        self.says(self.page(results), '<td class="bad">✗ missed</td>', '<td class="bad">3</td>')

    def test_names_are_only_text(self):
        results = recorded()
        results["machine"]["processor"] = results["sets"]["latency"]["groups"][0]["members"][2]["title"] = "</script><b>x"
        page = self.page(results)
        self.assertFalse("<b>x" in page)
        data = re.search(r'id="results">(.*?)</script>', page, re.DOTALL).group(1)
        self.assertEqual(json.loads(data), results)


class Refused(InFolder):
    """One line that names the place, the exit code, and no page."""

    def refused(self, code, results, *says, arguments=()):
        done, page = self.made(results, *arguments)
        self.assertEqual((done.returncode, done.stderr.count("\n"), page), (code, 1, None), done.stderr)
        for some in says:
            self.assertIn(some, done.stderr)

    def test_not_results(self):
        for text in ("{", "[]", '{"format": 2, "sets": {}}', '{"format": 1, "sets": 3}', "[" * 100_000):
            with self.subTest(text[:30]):
                self.refused(65, text, "results.json")

    def test_lacks_something(self):
        results = copy.deepcopy(recorded())
        del results["sets"]["throughput"]["points"][0]["members"][0]["per_s"]
        self.refused(65, results, "per_s")

    def test_has_something_else(self):
        for ratio, said in (("x", "ValueError"), (float("nan"), "ValueError"), (10**400, "OverflowError"), ([], "TypeError")):
            results = recorded()
            results["sets"]["promises"]["rows"][0]["ratio"] = ratio
            with self.subTest(said):
                self.refused(65, results, said)

    def test_usage(self):
        self.refused(64, recorded(), "--what", arguments=["--what"])
        self.refused(69, recorded(), "node-d3", arguments=["--d3", "/nowhere"])
        self.refused(73, recorded(), "cannot be written", arguments=["-o", "/nowhere/report.html"])


if __name__ == "__main__":
    unittest.main()
