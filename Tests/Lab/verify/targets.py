"""Checks that each target of a Package.swift names every other target that its files import, and no more: what is not
named may not be built yet when it is needed, and the build fails now and then.

usage: targets.py PACKAGE...
"""

import json
import pathlib
import re
import subprocess
import sys

IMPORT = re.compile(r"^(?:@\w+ )*(?:(?:public|package|internal|private) )?import (?:struct |class |enum |func )?(\w+)", re.M)


def targets_of(package):
    dump = subprocess.run(["swift", "package", "dump-package"], cwd=package, capture_output=True, text=True, check=True)
    return {target["name"]: target for target in json.loads(dump.stdout)["targets"]}


def problems_of(package, targets, known):
    for name, target in targets.items():
        folder = package / (target.get("path") or ("Tests" if target["type"] == "test" else "Sources") + f"/{name}")
        files = list(folder.rglob("*.swift"))
        named = {dependency["byName"][0] for dependency in target["dependencies"] if "byName" in dependency}
        imported = {found for file in files for found in IMPORT.findall(file.read_text(encoding="utf-8"))}
        # Such as those of another package whose sources this one has.
        for other in sorted(imported & known - targets.keys()):
            yield f"{package}: {name} imports {other}, which is none of this package's targets"
        for other in sorted(imported & targets.keys() - named):
            yield f"{package}: {name} imports {other}, which Package.swift does not name"
        for other in sorted(named & targets.keys() - imported) if files else []:
            yield f"{package}: {name} names {other}, which none of its files imports"


def main():
    packages = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    targets = [targets_of(package) for package in packages]
    known = {name for names in targets for name in names}
    problems = [problem for package, own in zip(packages, targets) for problem in problems_of(package, own, known)]
    print(*problems, sep="\n")
    sys.exit(not packages or bool(problems))


if __name__ == "__main__":
    main()
