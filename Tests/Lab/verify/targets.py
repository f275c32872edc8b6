"""Checks that each target of Package.swift names every other target that its files import: what is not named may not be
built yet when it is needed, and the build fails now and then.

usage: targets.py REPOSITORY
"""

import json
import pathlib
import re
import subprocess
import sys

IMPORT = re.compile(r"^(?:@\w+ )*(?:(?:public|package|internal|private) )?import (?:struct |class |enum |func )?(\w+)", re.M)


def main():
    repository = pathlib.Path(sys.argv[1]).resolve()
    dump = subprocess.run(["swift", "package", "dump-package"], cwd=repository, capture_output=True, text=True, check=True)
    targets = {target["name"]: target for target in json.loads(dump.stdout)["targets"]}
    problems = []
    for name, target in targets.items():
        folder = repository / (target.get("path") or ("Tests" if target["type"] == "test" else "Sources") + f"/{name}")
        named = {dependency["byName"][0] for dependency in target["dependencies"] if "byName" in dependency}
        imported = {found for file in folder.rglob("*.swift") for found in IMPORT.findall(file.read_text(encoding="utf-8"))}
        problems += [f"{name} imports {other}, which Package.swift does not name" for other in sorted(imported & targets.keys() - named)]
        problems += [f"{name} names {other}, which none of its files imports" for other in sorted(named & targets.keys() - imported) if folder.name[0] != "C" or list(folder.rglob("*.swift"))]
    print(*problems, sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
