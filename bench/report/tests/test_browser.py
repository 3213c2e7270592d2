#!/usr/bin/env python3
"""The page in headless Chromium: that every set is drawn, bounds and all; that it fits its window and tells what is pointed
at; that it loads nothing and complains of nothing."""

import os
import sys
import unittest

from support import HERE, InFolder, recorded

sys.path.append(os.path.join(HERE, "..", "..", "..", "scripts"))
# pylint: disable=wrong-import-position
from shared.headless import browser  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

# What leaves its svg, or is not a number, cannot be seen.
OUTSIDE = """
  return [...document.querySelectorAll(".chart svg")].flatMap(svg => {
    const room = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("path, circle, rect, text")].filter(one => {
      const box = one.getBoundingClientRect();
      return /NaN|undefined/.test(one.outerHTML) || box.left < room.left - 8 || box.right > room.right + 8 ||
        box.top < room.top - 8 || box.bottom > room.bottom + 8;
    }).map(one => svg.closest("figure").querySelector("figcaption").textContent + ": " + one.outerHTML.slice(0, 200));
  });"""


class Drawn(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.driver = browser(os.path.join(cls.folder, "profile"))
        cls.addClassCleanup(cls.driver.quit)

    def open(self, results, width=1400, scheme="light"):
        done, _ = self.made(results)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get(f"file://{self.folder}/report.html")
        self.assertEqual(self.js("return document.documentElement.dataset.ready"), "yes")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])
        self.assertEqual(self.js("return performance.getEntriesByType('resource').map(one => one.name)"), [])

    def test_every_set(self):
        results = recorded()
        self.open(results)
        sets = results["sets"]
        for name in ("latency", "throughput", "handover", "contention", "core"):
            self.assertGreater(len(self.all(f"#{name} .chart svg")), 0, name)
        ranges = sum(not member["bound"] for group in sets["latency"]["groups"] if group["nodes"] == 5 for member in group["members"])
        self.assertEqual(len(self.all("#latency .range")), ranges)
        self.assertEqual(len(self.all("#core .range")), len(sets["core"]["benchmarks"]))
        for name in ("latency", "throughput", "handover"):
            self.assertGreater(len(self.all(f"#{name} .bound[d], #{name} line.bound")), 0, name)
        self.assertEqual(self.js(OUTSIDE), [])

    def test_fits_its_window(self):
        for width, scheme in ((1400, "dark"), (420, "light")):
            self.open(recorded(), width, scheme)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)
            self.assertEqual(self.js(OUTSIDE), [])

    def test_tells_what_is_pointed_at(self):
        self.open(recorded())
        dot = self.all("#throughput .chart .dot")[0]
        self.js("arguments[0].scrollIntoView({block: 'center'})", dot)
        ActionChains(self.driver).move_to_element(dot).perform()
        self.assertIn("floor", self.driver.find_element(By.ID, "tip").text)

    def test_colours_need_not_be_told_apart(self):
        self.open(recorded())
        alike = self.js("""
            return [...document.querySelectorAll(".chart")].filter(chart => {
              const signs = [...chart.querySelectorAll(".legend .dot")].map(one =>
                one.getAttribute("d") + (one.style.fill === one.style.stroke));
              return new Set(signs).size < signs.length;
            }).map(chart => chart.querySelector("figcaption").textContent);""")
        self.assertEqual(alike, [])
        self.assertGreater(len(self.all(".legend .dot")), 10)

    def test_clients_that_failed_throughout(self):
        """On logarithmic axes a zero has no place."""
        nothing = {"acquire_us": None, "release_us": None, "per_s": 0, "cpu_us": 0, "failed": 9,
                   "ratio": {"acquire": None, "pair": None, "per_s": None}}
        for spared in (("floor", "callbacks"), ()):
            results = recorded()
            for group in results["sets"]["latency"]["groups"] + results["sets"]["throughput"]["points"]:
                for member in group["members"]:
                    if member["name"] not in spared:
                        member.update(nothing)
            with self.subTest(spared):
                self.open(results)
                self.assertEqual(self.js(OUTSIDE), [])
                self.assertEqual("Nothing was measured." in self.driver.find_element(By.ID, "throughput").text, not spared)

    def test_each_set_alone_and_none(self):
        for names in [[name] for name in recorded()["sets"]] + [[]]:
            results = recorded()
            results["sets"] = {name: results["sets"][name] for name in names}
            with self.subTest(names):
                self.open(results)
                self.assertEqual(self.js(OUTSIDE), [])


if __name__ == "__main__":
    unittest.main()
