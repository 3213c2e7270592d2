#!/usr/bin/env python3
"""The runner's statistics, its turns, and what it says to wrong arguments."""

import contextlib
import io
import json
import os
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
# pylint: disable=wrong-import-position
from harness import clients, figures, main  # noqa: E402
from harness.latency import Place  # noqa: E402


class Figures(unittest.TestCase):
    def test_quantiles(self):
        self.assertIsNone(figures.spread([]))
        self.assertEqual(figures.spread([7]), {"n": 1, "p50": 7, "p95": 7, "p99": 7, "max": 7})
        shuffled = [(37 * i) % 100 for i in range(100)]
        self.assertEqual(figures.spread(shuffled), {"n": 100, "p50": 50, "p95": 95, "p99": 99, "max": 99})

    def test_distribution_rises_from_the_least_to_the_most(self):
        points = figures.distribution([(37 * i) % 1000 for i in range(1000)])
        self.assertEqual((points[0], points[-1]), ([0, 0], [100, 999]))
        self.assertEqual(points, sorted(points))
        self.assertEqual([value for percent, value in points if percent == 99.9], [999])
        self.assertEqual(figures.distribution([]), [])

    def test_ratios_are_paired(self):
        """The machine became ten times slower halfway; the ratio does not notice."""
        self.assertEqual(figures.ratio([2, 4, 20, 40], [1, 2, 10, 20]), 2)
        self.assertEqual(figures.ratio([3, None, 9], [1, 1, 3]), 3)
        self.assertIsNone(figures.ratio([None], [1]))
        self.assertIsNone(figures.ratio([1], [0]))

    def test_shares(self):
        self.assertEqual(figures.shares_apart([10, 5, 20]), 4)
        self.assertIsNone(figures.shares_apart([3, 0]))
        self.assertIsNone(figures.shares_apart([]))


def batch(acquire, release, wall=1e6, failed=0):
    return {"acquire_us": acquire, "release_us": release, "ops": len(acquire), "wall_us": wall, "cpu_us": 10 * len(acquire),
            "failed": failed, "errors": 0, "overlaps": 0}


class Turns(unittest.TestCase):
    def test_order_turns_round_and_everybody_gets_his_size(self):
        asked = []

        class Driver:
            def __init__(self, name):
                self.name = name

            def ask(self, size):
                asked.append((self.name, size))
                return json.dumps(batch([1], [1]))

        told = []
        found = clients.by_turns({name: Driver(name) for name in "abc"}, 3, {"a": 1, "b": 2, "c": 3}.get,
                                 lambda *done: told.append(done))
        self.assertEqual([name for name, _ in asked], list("cba" "abc" "cba"))
        self.assertEqual(set(asked), {("a", 1), ("b", 2), ("c", 3)})
        self.assertEqual([len(found[name]) for name in "abc"], [3, 3, 3])
        self.assertEqual(told, [(1, 3), (2, 3), (3, 3)])

    def test_summary(self):
        base = [batch([10, 10, 10], [20, 20, 20]), batch([100], [200])]
        mine = [batch([20, 20, 30], [40, 50, 40], wall=2e6), batch([200], [400], wall=2e6, failed=1)]
        found = clients.summary(mine, base)
        self.assertEqual(found["ratio"], {"acquire": 2, "pair": 2, "per_s": 0.5})
        self.assertEqual(found["acquire_us"]["n"], 4)
        self.assertEqual((found["acquire_us"]["max"], found["cpu_us"], found["failed"]), (200, 10, 1))

    def test_a_batch_in_which_nothing_was_had(self):
        found = clients.summary([batch([], [], failed=5), batch([2], [2])], [batch([1], [1]), batch([1], [1])])
        self.assertEqual((found["ratio"]["acquire"], found["failed"]), (2, 5))
        kept = clients.summary([batch([1], [])], [batch([1], [1])])  # had, and never given back
        self.assertEqual((kept["ratio"]["acquire"], kept["ratio"]["pair"]), (1, None))
        none = clients.summary([batch([], [])], [batch([1], [1])])
        self.assertEqual((none["acquire_us"], none["ratio"]["acquire"]), (None, None))


class Ports(unittest.TestCase):
    def test_who_is_sent_where(self):
        class Some:
            def __init__(self, *ports):
                self.ports = list(ports)

        place = Place.__new__(Place)
        place.nodes, place.victims, place.secret = Some(1, 2, 3, 4, 5), Some(6, 7), Some(11, 12, 13, 14, 15)
        doors = {port: 100 + port for port in place.all_ports()}
        self.assertEqual(place.ports_of("callbacks", doors), [101, 102, 103, 104, 105])
        self.assertEqual(place.ports_of("single", doors), [101])
        self.assertEqual(place.ports_of("tls", doors), [111, 112, 113, 114, 115])
        self.assertEqual(place.ports_of("hung", doors), [102, 103, 104, 105, 106])
        self.assertEqual(place.ports_of("dead", doors), [102, 103, 104, 105, 107])
        self.assertEqual(place.ports_of("hung_dead", doors), [103, 104, 105, 106, 107])


class Arguments(unittest.TestCase):
    def refused(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            main.main(words)
        self.assertEqual(end.exception.code, 64)
        self.assertTrue(said.getvalue().startswith("bench/run: "), said.getvalue())
        self.assertEqual(said.getvalue().count("\n"), 1)

    def test_usage(self):
        self.refused()
        self.refused("fast")
        self.refused("quick", "--rounds", "0")
        self.refused("promises", "--only", "world")
        self.refused("quick", "--only", "tput")
        self.refused("core", "--out", __file__)

    def test_nothing_was_built(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(main.main(["core", "--build", "/nowhere"]), 69)
        self.assertIn("/nowhere/bench/bench_redlock is missing", said.getvalue())

    def test_a_folder_that_cannot_be_made(self):
        with mock.patch.object(main, "find_programs"), mock.patch.object(main, "need"), mock.patch.object(main, "Run"), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main.main(["core", "--out", "/proc/none/of/these"]), 69)
        self.assertEqual((said.getvalue().count("\n"), "/proc/none" in said.getvalue()), (1, True), said.getvalue())

    def test_list_names_every_set(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(main.main(["--list"]), 0)
        for name in [*main.SETS, *main.BUNDLES]:
            self.assertIn(f"  {name} ", said.getvalue())


if __name__ == "__main__":
    unittest.main()
