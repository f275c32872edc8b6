"""What became of each stage, kept by commit, and the tables that are made of it."""

import dataclasses
import json
import pathlib
import re
import subprocess

from schedule import Cost

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
DOCUMENT = REPOSITORY / "docs/testing.md"
ROW = re.compile(r"^\| `([\w-]+)` \| \w+ \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| [\d,]+ \|$", re.M)


def git(*arguments):
    return subprocess.run(["git", "-C", REPOSITORY, *arguments], capture_output=True, text=True, check=False).stdout.strip()


def state():
    """The commit, or, where files are changed, a name that no later run takes for the same sources."""
    commit = git("rev-parse", "--short=12", "HEAD") or "no-commit"
    return commit + ("-changed" if git("status", "--porcelain") else "")


class Results:
    """The folder of one run's results: a log, a tally and an outcome for each stage."""

    def __init__(self, name, round):
        self.folder = REPOSITORY / ".build-tests" / state() / name / f"round-{round}"

    def log(self, stage):
        return self.folder / f"{stage.name}.log"

    def tally(self, stage):
        return self.folder / f"{stage.name}.tally"

    def checks(self, stage):
        """Outcome, name and reason of each check."""
        try:
            lines = self.tally(stage).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        return [(line.split("\t") + ["", ""])[:3] for line in lines]

    def outcome(self, stage):
        try:
            return json.loads((self.folder / f"{stage.name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def record(self, stage, **outcome):
        """Last of all: a stage without an outcome did not end."""
        outcome["checks"] = len(self.checks(stage))
        (self.folder / f"{stage.name}.json").write_text(json.dumps(outcome) + "\n", encoding="utf-8")

    def passed(self, stage):
        outcome = self.outcome(stage)
        return outcome is not None and outcome["status"] == 0 and all(check[0] != "fail" for check in self.checks(stage))


def measured():
    """What each stage cost when the table of docs/testing.md was made."""
    rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    return {name: Cost(*(int(number.replace(",", "")) for number in numbers)) for name, *numbers in rows}


def costs(stages):
    """What each stage is expected to cost. One that was never measured is taken for long, so that it does not come last."""
    known = measured()
    return {stage.name: known.get(stage.name, Cost(wall=600, processor=600)) for stage in stages}


def mutants_by_stage():
    counts = {}
    for path in (REPOSITORY / "Tests/Mutants").glob("*.txt"):
        stage = re.search(r"^Caught by: (\S+)", path.read_text(encoding="utf-8"), flags=re.M)
        if stage:
            counts[stage.group(1)] = counts.get(stage.group(1), 0) + 1
    return counts


def times_table(stages, results):
    """Markdown: what each stage costs and buys. A stage that this commit has not run keeps its row."""
    costs, mutants = measured(), mutants_by_stage()
    lines = ["| stage | tier | seconds | of processors | checks | mutants |", "|---|---|--:|--:|--:|--:|"]
    for stage in stages:
        if (outcome := results.outcome(stage)) and outcome["checks"]:
            costs[stage.name] = Cost(outcome["wall"], outcome["processor"], outcome["checks"])
        numbers = dataclasses.astuple(costs[stage.name]) if stage.name in costs else ()
        written = [f"{number:,.0f}" for number in numbers] or ["–"] * 3
        lines.append(f"| `{stage.name}` | {stage.tier} | {' | '.join(written)} | {mutants.get(stage.name, 0):,} |")
    total = [costs[stage.name] for stage in stages if stage.tier in ("basic", "lab") and stage.name in costs]
    sums = (sum(cost.wall for cost in total), sum(cost.processor for cost in total), sum(cost.checks for cost in total), sum(mutants.values()))
    lines.append(f"| all of `--lab` | | {' | '.join(f'{number:,.0f}' for number in sums)} |")
    return "\n".join(lines)


def flakes(stages):
    """Markdown: each check of this commit that failed in at least one of its runs, and in how many."""
    failed, rounds = {}, 0
    for folder in sorted((REPOSITORY / ".build-tests" / state()).glob("*-load-*/round-*")):
        rounds += 1
        results = Results(folder.parent.name, int(folder.name.removeprefix("round-")))
        for stage in stages:
            for outcome, name, reason in results.checks(stage):
                if outcome == "fail":
                    failed.setdefault((stage.name, name), []).append((f"{folder.parent.name}/{folder.name}", reason))
    lines = [f"{len(failed)} checks failed at least once in {rounds} runs of {state()}."]
    for (stage, name), runs in sorted(failed.items()):
        lines.append(f"- `{stage}`: {name}: {len(runs)} of {rounds} ({', '.join(run for run, _ in runs)}): {runs[0][1]}")
    return "\n".join(lines)
