#!/usr/bin/env python3
"""The page in headless Chromium: that it draws, zooms, tells and jumps; that it stays within the window.

Pixels are read from the canvas itself, so that "red" means that somebody can see it.
"""

import os
import shutil
import tempfile
import time
import unittest

from support import make
from made_up import Run
from shared.headless import LIMIT, browser
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SECTIONS = 100_000
EVIL = "<script>document.title='hacked'</script><b>n</b>"

# Counts the pixels of one lane's height that are near the colour of a CSS variable.
PIXELS = """
  const [series, kind, name] = arguments, root = document.querySelectorAll(".timeline")[series];
  const canvas = root.querySelector(".stage canvas"), lane = root.querySelector(".labels .lane." + kind);
  const density = canvas.width / canvas.clientWidth, c = canvas.getContext("2d");
  const top = lane ? parseFloat(lane.style.top) : 0, height = lane ? parseFloat(lane.style.height) : canvas.clientHeight;
  const hex = getComputedStyle(root).getPropertyValue("--" + name).trim();
  const wanted = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
  const data = c.getImageData(0, Math.round(top * density), canvas.width, Math.round(height * density)).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (wanted.every((value, part) => Math.abs(data[i + part] - value) < 12)) ++count;
  return count;"""


class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="redlock-report-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.run_made = os.path.join(cls.folder, "run")
        cls.fill(Run(cls.run_made, seed=4, labels={0: EVIL}))
        done = make(cls.run_made)
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.page = os.path.join(cls.run_made, "report.html")
        cls.driver = browser(os.path.join(cls.folder, "profile"))
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.window(1400, 1000)
        self.driver.get("about:blank")
        self.open()

    def tearDown(self):
        """Nothing was complained about, and nothing was loaded."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        self.assertEqual([message for message in said if "getImageData" not in message], [])  # that is us, reading pixels
        self.assertEqual(self.js("return performance.getEntriesByType('resource').map(one => one.name)"), [])

    def open(self, hash=""):
        self.driver.get(f"file://{self.page}{hash}")
        self.until(lambda: self.js("return document.documentElement.dataset.ready") == "yes", "the page is ready")

    def window(self, width, height, scheme="light"):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"never happened: {what}")
            time.sleep(0.02)

    def settle(self):
        """Two frames: what was asked to be drawn is drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def timeline(self, series):
        return self.driver.find_elements(By.CSS_SELECTOR, ".timeline")[series]

    def stage(self, series):
        stage = self.timeline(series).find_element(By.CSS_SELECTOR, ".stage")
        self.js("arguments[0].scrollIntoView({block: 'center'})", stage)
        return stage

    def view(self, series):
        self.settle()
        data = self.js("return {...document.querySelectorAll('.timeline')[arguments[0]].dataset}", series)
        return int(data["from"]), int(data["to"])

    def width(self, series):
        begin, end = self.view(series)
        return end - begin

    def pixels(self, series, kind, colour):
        return self.js(PIXELS, series, kind, colour)

    def tip(self):
        tip = self.driver.find_element(By.ID, "tip")
        return tip.text if tip.is_displayed() else ""

    def lane_y(self, series, kind):
        return self.js("const lane = document.querySelectorAll('.timeline')[arguments[0]].querySelector('.lane.' + arguments[1]);"
                       "return parseFloat(lane.style.top) + parseFloat(lane.style.height) / 2", series, kind)

    def hover(self, series, kind, t, x=None):
        """Moves the pointer to a time in a lane; the answer is what is told there."""
        stage = self.stage(series)
        self.settle()
        begin, end = self.view(series)
        box = stage.rect
        x = (t - begin) / (end - begin) * box["width"] if x is None else x
        ActionChains(self.driver).move_to_element_with_offset(
            stage, round(x - box["width"] / 2), round(self.lane_y(series, kind) - box["height"] / 2)).perform()
        return self.tip()


class Page(InBrowser):
    GUARDED, PLAIN, EMPTY = range(3)

    @classmethod
    def fill(cls, run):
        cls.guarded = run.add("guarded", "guarded and fenced", "clean", sections=1500, workers=3, threads=4)
        cls.plain = run.add("plain", "no guard " + EVIL, "overlaps", sections=900, workers=2, guard=False, overlaps=5, inversions=1, stalls=1,
                            validity=1, names=["stock-1", EVIL])
        run.series.append({"id": "gone", "title": "nothing is there", "expect": "clean"})
        run.close()

    def test_elements_are_there(self):
        for series in (self.GUARDED, self.PLAIN):
            labels = self.timeline(series).find_element(By.CSS_SELECTOR, ".labels").text
            for word in ("scenario", "faults", "violations", "node 2", "can vote", "wait times", "locks", "stock-1", "workers", "w1"):
                self.assertIn(word, labels)
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#series-0 .lane.node")), 5)
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, ".card")), 3)
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "table.matrix tbody tr")), 11)
        units = self.driver.find_element(By.CSS_SELECTOR, "#series-0 .lane.latency").text
        self.assertIn("ms", units)
        self.assertIn("D3", self.driver.find_element(By.TAG_NAME, "footer").text)
        self.assertIn("BSD-3-Clause", self.driver.find_element(By.TAG_NAME, "footer").text)

    def test_everything_is_drawn(self):
        for kind, colour in (("node", "up"), ("faults", "fault"), ("lock", "hold"), ("group", "hold"), ("latency", "median"),
                             ("latency", "high"), ("quorum", "quorum"), ("quorum", "stall")):
            self.assertGreater(self.pixels(self.GUARDED, kind, colour), 5, (kind, colour))
        self.assertEqual(self.pixels(self.GUARDED, "violations", "violation"), 0)
        self.assertGreater(self.pixels(self.PLAIN, "violations", "violation"), 100)

    def test_names_are_only_names(self):
        self.assertIn("Chaos report", self.driver.find_element(By.TAG_NAME, "h1").text)
        self.assertNotEqual(self.driver.title, "hacked")
        self.assertIn(EVIL, self.timeline(self.PLAIN).find_element(By.CSS_SELECTOR, ".labels").text)
        self.assertIn(EVIL, self.driver.find_element(By.CSS_SELECTOR, "#series-1 h2").text)
        self.assertEqual(self.js("return document.querySelectorAll('main b').length"), 0)

    def test_wheel_zooms_around_the_pointer(self):
        whole = self.width(self.GUARDED)
        self.hover(self.GUARDED, "faults", 0, x=300)
        self.wheel(-400)
        self.until(lambda: self.width(self.GUARDED) < whole * 0.8, "the wheel zooms in")
        near = self.width(self.GUARDED)
        self.wheel(200)
        self.until(lambda: self.width(self.GUARDED) > near, "the wheel zooms out")

    def wheel(self, delta):
        self.js("const s = document.querySelector('.timeline .stage'), b = s.getBoundingClientRect();"
                "window.taken = !s.dispatchEvent(new WheelEvent('wheel', {deltaY: arguments[0], bubbles: true, cancelable: true,"
                "clientX: b.left + 300, clientY: b.top + 40}))", delta)

    def test_wheel_is_left_to_the_page_when_all_is_shown(self):
        self.wheel(300)
        self.assertFalse(self.js("return window.taken"))
        self.wheel(-300)
        self.assertTrue(self.js("return window.taken"))

    def test_buttons_and_keys_zoom_and_move(self):
        whole = self.view(self.GUARDED)
        press = self.timeline(self.GUARDED).find_element
        press(By.CSS_SELECTOR, ".zoom-in").click()
        self.assertAlmostEqual(self.width(self.GUARDED), (whole[1] - whole[0]) / 2, delta=10)
        before = self.view(self.GUARDED)[0]
        press(By.CSS_SELECTOR, ".move-on").click()
        self.assertGreater(self.view(self.GUARDED)[0], before)
        press(By.CSS_SELECTOR, ".show-all").click()
        self.assertEqual(self.view(self.GUARDED), whole)
        stage = self.stage(self.GUARDED)
        stage.send_keys("++")
        self.assertAlmostEqual(self.width(self.GUARDED), (whole[1] - whole[0]) / 4, delta=10)
        before = self.view(self.GUARDED)[0]
        stage.send_keys(Keys.ARROW_LEFT)
        self.assertLess(self.view(self.GUARDED)[0], before)
        stage.send_keys("0")
        self.assertEqual(self.view(self.GUARDED), whole)

    def test_drag_moves_and_shift_drag_picks(self):
        self.timeline(self.GUARDED).find_element(By.CSS_SELECTOR, ".zoom-in").click()
        before = self.view(self.GUARDED)
        stage = self.stage(self.GUARDED)
        ActionChains(self.driver).move_to_element_with_offset(stage, 50, 0).click_and_hold().move_by_offset(-200, 0).release().perform()
        after = self.view(self.GUARDED)
        self.assertGreater(after[0], before[0])
        self.assertAlmostEqual(after[1] - after[0], before[1] - before[0], delta=10)
        (ActionChains(self.driver).key_down(Keys.SHIFT).move_to_element_with_offset(stage, -100, 0).click_and_hold()
         .move_by_offset(200, 0).release().key_up(Keys.SHIFT).perform())
        picked = self.width(self.GUARDED)
        self.assertAlmostEqual(picked, (after[1] - after[0]) * 200 / stage.rect["width"], delta=picked * 0.05)

    def test_overview_takes_the_view_there(self):
        whole = self.width(self.GUARDED)
        strip = self.timeline(self.GUARDED).find_element(By.CSS_SELECTOR, ".overview")
        self.stage(self.GUARDED)
        self.timeline(self.GUARDED).find_element(By.CSS_SELECTOR, ".zoom-in").click()
        (ActionChains(self.driver).move_to_element_with_offset(strip, round(strip.rect["width"] * 0.3), 0).click_and_hold()
         .move_by_offset(round(strip.rect["width"] * 0.1), 0).release().perform())
        self.assertAlmostEqual(self.width(self.GUARDED) / whole, 0.1, delta=0.02)

    def test_hover_tells(self):
        fault = next(event for event in self.guarded.harness if event["e"] == "fault")
        told = self.hover(self.GUARDED, "faults", fault["t"] - self.guarded.began + 100_000)
        for word in ("f1", "kill restart memory", "proof", "run_id"):
            self.assertIn(word, told)
        self.assertIn("up", self.hover(self.GUARDED, "node", 50_000))
        self.assertIn("5 of 5", self.hover(self.GUARDED, "quorum", 50_000))
        self.hover(self.GUARDED, "heading", 0, x=5)
        self.assertEqual(self.tip(), "")

    def test_hover_tells_all_of_a_section(self):
        for _ in range(9):
            self.stage(self.GUARDED).send_keys("+")
        begin, end = self.view(self.GUARDED)
        lock = self.timeline(self.GUARDED).find_element(By.CSS_SELECTOR, ".lane.lock").text
        began = self.guarded.began
        claim = next(one for one in self.guarded.claims
                     if one["name"] == lock and begin < one["granted"] - began < one["end"] - began < end)
        told = self.hover(self.GUARDED, "lock", (claim["granted"] + claim["end"]) / 2 - began)
        for word in (f'{claim["w"]} #{claim["id"]}', lock, "granted", "held for", "fencing number", str(claim["fence"]),
                     "token"):
            self.assertIn(word, told)

    def test_click_leads_from_the_summary_to_red(self):
        whole = self.width(self.PLAIN)
        link = self.driver.find_element(By.CSS_SELECTOR, ".cards a.jump")
        self.js("arguments[0].scrollIntoView({block: 'center'})", link)
        link.click()
        self.until(lambda: self.width(self.PLAIN) < whole / 2, "the view is near the violation")
        self.until(lambda: self.js("return document.querySelectorAll('.timeline')[1].getBoundingClientRect().top < innerHeight / 2"),
                   "the drawing is in the window")
        self.assertGreater(self.pixels(self.PLAIN, "violations", "violation"), 500)
        detail = self.timeline(self.PLAIN).find_element(By.CSS_SELECTOR, ".detail")
        self.assertTrue(detail.is_displayed())

    def test_each_overlap_is_red_for_both_and_its_lock(self):
        found = sorted(self.plain.found["overlaps"], key=lambda one: one["from"])
        links = self.driver.find_elements(By.CSS_SELECTOR, "#series-1 .violations a.jump")
        self.assertEqual(len(links), 8)
        overlaps = [link for link in links if "both held" in link.text]
        self.assertEqual(len(overlaps), len(found))
        for link, overlap in zip(overlaps, found):
            self.js("arguments[0].click()", link)
            self.until(lambda: self.view(self.PLAIN)[0] <= overlap["from"] - self.plain.began <= self.view(self.PLAIN)[1], "in view")
            begin, end = self.view(self.PLAIN)
            self.assertLess(end - begin, 10 * max(2000, overlap["to"] - overlap["from"]))
            red = self.pixels(self.PLAIN, "violations", "violation")
            self.assertGreater(red, 500)
            self.assertGreater(self.js(PIXELS, self.PLAIN, "nothing-of-that-name", "violation"), red * 2)
            told = self.hover(self.PLAIN, "violations", (overlap["from"] + overlap["to"]) / 2 - self.plain.began)
            for side in ("first", "second"):
                self.assertIn(f'{overlap[side]["w"]} #{overlap[side]["id"]}', told)

    def test_steps_through_violations(self):
        stage = self.stage(self.PLAIN)
        places = []
        for _ in range(3):
            stage.send_keys("n")
            self.settle()
            places.append(self.timeline(self.PLAIN).get_attribute("data-selected"))
        stage.send_keys("p")
        self.settle()
        places.append(self.timeline(self.PLAIN).get_attribute("data-selected"))
        self.assertEqual(places, ["0", "1", "2", "1"])
        self.assertIn(", 2 of 8", self.timeline(self.PLAIN).text)

    def test_a_link_can_be_opened_later(self):
        self.open("#v-1-3")
        self.settle()
        self.assertEqual(self.timeline(self.PLAIN).get_attribute("data-selected"), "3")
        self.assertLess(self.width(self.PLAIN), self.width(self.GUARDED) / 2)

    def test_threads_open_and_close(self):
        count = lambda: len(self.driver.find_elements(By.CSS_SELECTOR, "#series-0 .lane.thread"))
        self.assertEqual(count(), 0)
        self.driver.find_element(By.CSS_SELECTOR, "#series-0 .lane.group button").click()
        self.assertEqual(count(), 4)
        self.assertGreater(self.pixels(self.GUARDED, "thread", "hold"), 50)
        self.driver.find_element(By.CSS_SELECTOR, "#series-0 .lane.group button").click()
        self.assertEqual(count(), 0)

    def test_no_window_is_too_narrow(self):
        for width in (320, 420, 800, 1400, 2400):
            self.window(width, 900)
            self.settle()
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)
            self.until(lambda: self.js("""
                const stage = document.querySelector(".stage"), canvas = stage.querySelector("canvas");
                return Math.abs(stage.clientWidth - canvas.clientWidth) <= 1""") or width < 320, f"drawn for {width}")
            self.assertGreater(self.pixels(self.PLAIN, "violations", "violation"), 30, width)

    def test_dark_is_dark(self):
        light = self.js("return getComputedStyle(document.body).backgroundColor")
        self.window(1400, 1000, "dark")
        self.settle()
        self.assertNotEqual(self.js("return getComputedStyle(document.body).backgroundColor"), light)
        # The canvas has followed too: these colours differ between the schemes.
        self.until(lambda: self.pixels(self.GUARDED, "node", "up") > 100, "drawn anew")
        self.assertGreater(self.pixels(self.GUARDED, "lock", "hold"), 100)

    def test_an_empty_series_is_named(self):
        self.assertIn("there are no events", self.driver.find_element(By.ID, "series-2").text)
        self.assertIn("not judged", self.driver.find_element(By.ID, "series-2").text)


class Long(InBrowser):
    """100 000 sections: the page is small, opens and zooms, and no violation is lost however far out the view is."""

    @classmethod
    def fill(cls, run):
        cls.made = run.add("long", "a long run", "overlaps", sections=SECTIONS, workers=4, threads=8, overlaps=6,
                           names=[f"stock-{number}" for number in range(4)])
        run.close()

    def test_opens_and_is_small(self):
        """How fast is printed: a machine may be busy with other things, and only LIMIT is held against the page."""
        self.assertGreaterEqual(len(self.made.claims), SECTIONS * 0.95)
        self.assertLess(os.path.getsize(self.page), 20_000_000)
        times = []
        for _ in range(3):
            self.driver.get("about:blank")
            began = time.monotonic()
            self.open()
            times.append(time.monotonic() - began)
        frames = self.frames()
        print(f"{len(self.made.claims)} sections: {os.path.getsize(self.page) / 1e6:.2f} MB, opened in "
              f"{min(times):.2f} s to {max(times):.2f} s; a frame takes {frames:.0f} ms")

    def frames(self):
        """Median milliseconds that one frame of the whole series takes to draw."""
        return self.driver.execute_async_script("""
            const done = arguments[0], times = [], stage = document.querySelector(".stage");
            const box = stage.getBoundingClientRect();
            (function once() {
              if (times.length === 7) return done(times.sort((a, b) => a - b)[3]);
              const began = performance.now();
              stage.dispatchEvent(new WheelEvent("wheel", {deltaY: -30, bubbles: true, cancelable: true, clientX: box.left + 300,
                                                           clientY: box.top + 9}));
              requestAnimationFrame(() => { setTimeout(() => { times.push(performance.now() - began); once(); }); });
            })();""")

    def test_every_violation_is_seen_from_far(self):
        columns = self.js("""
            const root = document.querySelector(".timeline"), canvas = root.querySelector(".stage canvas");
            const lane = root.querySelector(".lane.violations"), c = canvas.getContext("2d"), found = [];
            const hex = getComputedStyle(root).getPropertyValue("--violation").trim();
            const wanted = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
            const row = c.getImageData(0, parseFloat(lane.style.top) + 10, canvas.width, 1).data;
            for (let x = 0; x < canvas.width; ++x)
              if (wanted.every((value, part) => Math.abs(row[x * 4 + part] - value) < 12)) found.push(x);
            return found;""")
        begin, end = self.view(0)
        width = self.js("return document.querySelector('.stage canvas').width")
        for overlap in self.made.found["overlaps"]:
            x = (overlap["from"] - self.made.began - begin) / (end - begin) * width
            self.assertTrue(any(abs(column - x) <= 3 for column in columns), (x, columns))


if __name__ == "__main__":
    unittest.main()
