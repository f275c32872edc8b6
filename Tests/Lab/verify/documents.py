"""Checks the documents: links and headings that exist, pages that something links to, and a README, pages and lines of
bounded length.

usage: documents.py REPOSITORY
"""

import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
WIDTH = 120
README_LINES = 130
GUIDE_LINES = 150


def pages(repository):
    """All documents, without what was built or fetched."""
    return sorted(path for path in repository.rglob("*.md") if not any(part.startswith(".") for part in path.relative_to(repository).parts))


def prose(text):
    """The lines outside code blocks, with their numbers."""
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif not fence:
            yield number, line


def anchor(heading):
    """GitHub's name for a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    return {anchor(line.lstrip("#")) for _, line in prose(path.read_text(encoding="utf-8")) if re.match(r"#{1,6} ", line)}


def main():
    repository = pathlib.Path(sys.argv[1]).resolve()
    problems, linked = [], set()
    for page in pages(repository):
        for number, line in prose(page.read_text(encoding="utf-8")):
            place = f"{page.relative_to(repository)}:{number}"
            # A table's row cannot be broken, nor can a line of code.
            if len(line) > WIDTH and not line.lstrip().startswith("|") and not line.startswith("    "):
                problems.append(f"{place}: {len(line)} columns")
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, fragment = target.partition("#")
                path = (page.parent / file).resolve() if file else page
                if not path.exists():
                    problems.append(f"{place}: {target}: no such file")
                    continue
                linked.add(path)
                if fragment and fragment not in anchors(path):
                    problems.append(f"{place}: {target}: no such heading")
    lines = len((repository / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > README_LINES:
        problems.append(f"README.md: {lines} lines; a page under docs/ has room")
    for page in sorted((repository / "docs/guide").glob("*.md")):
        lines = len(page.read_text(encoding="utf-8").splitlines())
        if lines > GUIDE_LINES:
            problems.append(f"{page.relative_to(repository)}: {lines} lines; a page answers one question")
    for path in sorted([*(repository / "docs").rglob("*.md"), *(repository / "docs").rglob("*.svg")]):
        if path not in linked:
            problems.append(f"{path.relative_to(repository)}: nothing links to it")
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
