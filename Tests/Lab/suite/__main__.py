"""Runs the tests, and ends with how many passed, failed and were skipped.

usage: test                               what a newcomer runs: a debug build, unit tests, a few stages on its programs
       test --lab                         all that continuous integration runs, on release builds
       test --full                        also sanitizers, long forms of some stages, and more guests
       test --distributions               also fresh folders with Debian 12, 13 and unstable (needs root)
       test --stage NAME... [--filter REGEX]     only these stages and what they need, on a debug build; of `unit` only
                                          these tests; with --lab on release builds
       test --list [TIER]                 the stages
       test --times [--write]             what each stage took at this commit; --write: in docs/testing.md
       test --simulate N                  how long --lab would take on N processors, by that table
       test --flakes                      the checks that failed in any run of this commit

options: --jobs N      so many processors are busy at once (default: all); 1: one stage after the other
         --rounds N    the whole run N times
         --load N      beside N busy loops
         --resume      what passed at this commit is not run again

A stage that fails does not stop the others. Results are in .build-tests, by commit. The exit status is 0 if all went
well, 1 if a check failed, and 2 if a build did.
"""

import argparse
import os
import shutil
import sys

sys.dont_write_bytecode = True

import results as kept
from run import Run
from schedule import simulate, with_needs
from stages import STAGES, TIERS


def tiers(options):
    more = {tier for tier in ("full", "distributions") if getattr(options, tier)}
    return {"basic"} | ({"lab"} | more if options.lab or more else set())


def planned(options):
    """The stages of a run in order, each with the command and needs that it has there."""
    wanted = tiers(options)
    stages = [stage.in_run(wanted) for stage in STAGES]
    if not options.stage:
        return with_needs([stage for stage in stages if stage.tier in wanted], stages)
    if unknown := set(options.stage) - {stage.name for stage in stages}:
        sys.exit(f"test: no stage is called {' or '.join(sorted(unknown))}; scripts/test --list names them")
    chosen = [stage for stage in stages if stage.name in options.stage]
    return [stage if stage in chosen else stage.as_need() for stage in with_needs(chosen, stages) if stage in chosen or stage.name != "packages"]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"test: {message}; scripts/test --help explains the options", file=sys.stderr)
        sys.exit(64)


def positive(word):
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"'{word}' is no number from 1 on")
    return int(word)


def parsed(arguments):
    parser = Parser(prog="test", usage="test [--lab | --full | --distributions | --help] [OPTION]...", add_help=False)
    parser.add_argument("--help", "-h", action="store_true")
    for tier in TIERS[1:]:
        parser.add_argument(f"--{tier}", action="store_true")
    parser.add_argument("--stage", nargs="+", metavar="NAME")
    parser.add_argument("--filter")
    parser.add_argument("--jobs", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=positive, default=1)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--list", nargs="?", const="", choices=["", *TIERS])
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--simulate", type=positive, metavar="N")
    parser.add_argument("--flakes", action="store_true")
    return parser.parse_args(arguments)


def write_times(table):
    text = kept.DOCUMENT.read_text(encoding="utf-8")
    head, _, rest = text.partition("| stage | tier |")
    tail = rest.partition("\n\n")[2]
    kept.DOCUMENT.write_text(f"{head}{table}\n\n{tail}", encoding="utf-8")


def main():
    options = parsed(sys.argv[1:])
    if options.help:
        print(__doc__.strip())
    elif options.list is not None:
        print("\n".join(stage.name for stage in STAGES if options.list in ("", stage.tier)))
    elif options.times:
        table = kept.times_table(STAGES, kept.Results("release-load-0", 1))
        write_times(table) if options.write else print(table)
    elif options.flakes:
        print(kept.flakes(STAGES))
    elif options.simulate:
        options.lab = True
        stages = planned(options)
        seconds, used = simulate(stages, kept.costs(stages), options.simulate)
        print(f"simulated, not measured: {seconds / 60:.0f} minutes with --jobs {options.simulate}, processors {used:.0%} busy")
    else:
        status = 0
        for round in range(1, options.rounds + 1):
            build = "debug" if max(tiers(options), key=TIERS.index) == "basic" else "release"
            results = kept.Results(f"{build}-{'some' if options.stage else f'load-{options.load}'}", round)
            if not options.resume:
                shutil.rmtree(results.folder, ignore_errors=True)
            status = max(status, Run(planned(options), results, options).outcome())
        return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
