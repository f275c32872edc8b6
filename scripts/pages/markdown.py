"""Reads the Markdown that docs/ is written in: headings, paragraphs, lists, tables, and blocks of code.

Every other form is an error, so that nothing is lost on the way into a manual page.
"""

import dataclasses
import pathlib
import re


class UnknownForm(Exception):
    """Markdown that is not read here."""


@dataclasses.dataclass(frozen=True)
class Heading:
    level: int
    text: str


@dataclasses.dataclass(frozen=True)
class Paragraph:
    text: str


@dataclasses.dataclass(frozen=True)
class Bullets:
    items: list


@dataclasses.dataclass(frozen=True)
class Table:
    """The first row has the columns' names."""

    rows: list


@dataclasses.dataclass(frozen=True)
class Code:
    language: str
    lines: list


@dataclasses.dataclass(frozen=True)
class Figure:
    pass


def cells(row):
    """The cells of a table's row, in which \\| is no border."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def block(lines):
    """One block, from the lines between two empty ones."""
    first = lines[0]
    if match := re.fullmatch(r"(#{1,6}) (.*)", first):
        return Heading(len(match[1]), match[2])
    if first.startswith("|"):
        return Table([cells(line) for line in lines if not re.fullmatch(r"[|\-: ]+", line)])
    if first.startswith("- "):
        return Bullets([" ".join(item.split()) for item in re.split(r"(?m)^- ", "\n".join(lines))[1:]])
    if first.startswith("!["):
        return Figure()
    if re.match(r"[>+]|\* |\d+\. | {4}|<(?!!--)", first):
        raise UnknownForm(first)
    return Paragraph(" ".join(line.strip() for line in lines))


def blocks(text):
    """All blocks, without comments."""
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    for part in re.split(r"(?ms)^(```.*?^```)$", text):
        if part.startswith("```"):
            first, *lines, _ = part.split("\n")
            yield Code(first[3:], lines)
        else:
            # A heading needs no empty line after it.
            part = re.sub(r"(?m)^(#{1,6} .*)$", r"\n\1\n", part)
            yield from (block(lines.split("\n")) for lines in re.split(r"\n\s*\n", part.strip("\n")) if lines.strip())


def anchor(heading):
    """GitHub's name for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@dataclasses.dataclass(frozen=True)
class Page:
    """A page, in sections."""

    path: pathlib.Path

    @property
    def blocks(self):
        return list(blocks(self.path.read_text(encoding="utf-8")))

    @property
    def introduction(self):
        """What stands before the second heading, without the title and the question that the page answers."""
        found = self.blocks[1:]
        if isinstance(found[0], Paragraph):
            answer = re.sub(r"^[^.?]*\?\s*", "", found[0].text)
            found[:1] = [Paragraph(answer)] if answer else []
        end = next((index for index, each in enumerate(found) if isinstance(each, Heading)), len(found))
        return found[:end]

    def section(self, title):
        """What stands under a heading, with the headings below it."""
        found = self.blocks
        start = next((index for index, each in enumerate(found) if isinstance(each, Heading) and each.text == title), None)
        if start is None:
            raise KeyError(f"{self.path} has no section '{title}'")
        level = found[start].level
        rest = found[start + 1:]
        end = next((index for index, each in enumerate(rest) if isinstance(each, Heading) and each.level <= level), len(rest))
        return rest[:end]
