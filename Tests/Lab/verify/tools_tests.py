"""Tests of the tests' own tools: mutants that survive moves, stages that run side by side, reports of unit tests."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "Tests/Lab/suite"))

from schedule import Cost, Schedule, simulate
from stages import STAGES, Stage


def loaded(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


mutants = loaded(REPOSITORY / "scripts/mutants")
TEXT = """Promise: two and two are four
Caught by: unit SumTests

Replace:
    let sum = a + b
    print("sum:  \\(sum)")
With:
    let sum = a - b
    print("sum:  \\(sum)")
"""
SOURCE = 'func sum() {\n        let sum = a + b\n        print("sum:  \\(sum)")\n}\n'


class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self.mutant = mutants.parse("sum", TEXT)

    def mutated(self, **files):
        for name, text in files.items():
            path = self.root / name.replace("_", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        subprocess.run(["git", "add", "-A"], cwd=self.root, check=True)
        return mutants.Sources(self.root).mutated(self.mutant)

    def test_the_replacement_has_the_indentation_of_the_source(self):
        path, text = self.mutated(Sources_A=SOURCE)
        self.assertEqual((path, text), ("Sources/A", SOURCE.replace("a + b", "a - b")))

    def test_a_file_may_move_and_lines_may_be_wrapped(self):
        path, text = self.mutated(Elsewhere_B=SOURCE.replace("a + b", "a\n            + b"))
        self.assertEqual(path, "Elsewhere/B")
        self.assertIn("        let sum = a - b\n        print(", text)

    def test_white_space_in_a_string_literal_counts(self):
        with self.assertRaisesRegex(mutants.Malformed, r"(?s)no file has the snippet.*nearest, \d\d% alike: Sources/A:2"):
            self.mutated(Sources_A=SOURCE.replace("sum:  ", "sum: "))

    def test_a_snippet_that_occurs_twice_is_refused(self):
        with self.assertRaisesRegex(mutants.Malformed, "Sources/A has the snippet 2 times"):
            self.mutated(Sources_A=SOURCE * 2)
        with self.assertRaisesRegex(mutants.Malformed, "more than one file has its snippets: Sources/A, Sources/B"):
            self.mutated(Sources_A=SOURCE, Sources_B=SOURCE)

    def test_tests_are_not_mutated(self):
        with self.assertRaisesRegex(mutants.Malformed, "nothing resembles it"):
            self.mutated(Tests_A=SOURCE)

    def test_a_text_without_a_promise_or_a_change_is_refused(self):
        for text in (TEXT.replace("Promise", "Claim"), TEXT.replace("a - b", "a + b"), TEXT.replace("With:", "By:")):
            with self.assertRaises(mutants.Malformed):
                mutants.parse("sum", text)

    def test_a_stage_that_does_not_exist_catches_nothing(self):
        self.assertIsNone(mutants.stage_problem("unit SumTests", {"AppTests.SumTests"}, {"live"}))
        self.assertIsNone(mutants.stage_problem("live", set(), {"live"}))
        for stage in ("unit SumTests|OddTests", "unit", "alive"):
            self.assertIsNotNone(mutants.stage_problem(stage, {"AppTests.SumTests"}, {"live"}))


class Stages(unittest.TestCase):
    def order(self, stages, costs, jobs):
        """Which stages run together, as each of them begins."""
        schedule, found = Schedule(stages, costs, jobs), []
        while schedule.waiting or schedule.running:
            for stage in iter(schedule.next, None):
                found.append([running.name for running in schedule.running])
            schedule.end(schedule.running[0])
        return found

    def stages(self, **needs):
        return [Stage(name, ("true",), needs=needed) for name, needed in needs.items()]

    def test_nothing_runs_beside_a_stage_that_is_alone(self):
        stages = [Stage(name, ("true",), needs=(), is_alone=name == "b") for name in "abcd"]
        found = self.order(stages, {name: Cost(10, 1) for name in "abcd"}, 2)
        self.assertEqual([together for together in found if "b" in together], [["b"]])
        self.assertEqual(len(found), 4)
        self.assertIn(2, map(len, found))

    def test_one_job_runs_one_stage_at_a_time(self):
        stages = self.stages(a=(), b=(), c=())
        self.assertEqual([len(running) for running in self.order(stages, {name: Cost(9, 1) for name in "abc"}, 1)], [1, 1, 1])

    def test_a_stage_waits_for_what_it_needs(self):
        stages = self.stages(a=(), b=("a",), c=())
        self.assertEqual(self.order(stages, {name: Cost(9, 1) for name in "abc"}, 2), [["a"], ["a", "c"], ["c", "b"]])

    def test_the_longest_path_comes_first(self):
        stages = self.stages(a=(), b=(), c=("b",))
        self.assertEqual(self.order(stages, {"a": Cost(10, 10), "b": Cost(5, 5), "c": Cost(8, 8)}, 1)[0], ["b"])

    def test_processors_are_not_promised_twice(self):
        stages = self.stages(a=(), b=(), c=())
        costs = {"a": Cost(10, 20), "b": Cost(10, 20), "c": Cost(10, 2)}
        self.assertEqual(self.order(stages, costs, 2)[:2], [["a"], ["a", "c"]])

    def test_stages_that_mostly_wait_are_few_at_once(self):
        stages = self.stages(a=(), b=(), c=(), d=())
        self.assertEqual(max(map(len, self.order(stages, {name: Cost(10, 1) for name in "abcd"}, 2))), 3)

    def test_a_guest_takes_two_processors(self):
        stages = [Stage(name, ("true",), needs=(), is_guest=True) for name in "abcd"]
        costs = {name: Cost(10, 1) for name in "abcd"}
        self.assertEqual([max(map(len, self.order(stages, costs, jobs))) for jobs in (1, 2, 3, 4)], [1, 1, 1, 2])

    def test_a_simulation_shares_the_processors(self):
        stages = self.stages(a=(), b=())
        self.assertEqual(simulate(stages, {name: Cost(10, 10) for name in "ab"}, 2)[0], 10)
        self.assertEqual(simulate(stages, {name: Cost(10, 10) for name in "ab"}, 1)[0], 20)

    def test_the_table_has_each_stage_once_behind_what_it_needs(self):
        known = {"programs"}
        for stage in STAGES:
            self.assertNotIn(stage.name, known)
            self.assertLessEqual(set(stage.needs), known, stage.name)
            self.assertTrue((REPOSITORY / stage.command[0]).exists(), stage.command[0])
            known.add(stage.name)


class UnitTests(unittest.TestCase):
    def test_a_failure_that_printed_control_characters_is_named(self):
        report = '<testsuites><testcase classname="A" name="b()"><failure message="got \x1b[2J"/></testcase></testsuites>'
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(report)
            file.flush()
            script = REPOSITORY / "Tests/Lab/verify/unit_tests.py"
            lines = subprocess.run([sys.executable, script, "unit", "1", file.name], capture_output=True, text=True, check=True).stdout
        self.assertEqual(lines, "fail\tunit: A.b()\tgot ?[2J\n")


if __name__ == "__main__":
    unittest.main()
