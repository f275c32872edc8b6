"""Writes manual pages in the man macros (man(7)), which every man program reads."""

import pathlib
import re

from . import markdown

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"

# Where the package and scripts/install put docs/ and examples/; the latter replaces it where its prefix is another.
INSTALLED_DOCUMENTS = "/usr/share/doc/camrec"

DOCUMENTS = {page.name: f"{INSTALLED_DOCUMENTS}/docs/{page.relative_to(DOCS)}" for page in DOCS.rglob("*.md")}

# mandoc advises no wider lines in a page's source.
SOURCE_COLUMNS = 80

# Wider lines of code run over the edge of a terminal with 80 columns.
CODE_COLUMNS = 66


def plain(text):
    """A text without markup, safe from roff's own."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("~", "\\(ti").replace("^", "\\(ha")
    return "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in text)


def prose(text):
    """A text without markup in which hyphens are hyphens, not minus signs."""
    return plain(text).replace("\\-", "-")


def line(text):
    """A line that is no request."""
    return f"\\&{text}" if text[:1] in (".", "'") else text


def wrapped(text):
    """A paragraph in lines that are not too wide."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > SOURCE_COLUMNS:
            lines.append(line(word))
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def bold(text):
    return f"\\fB{plain(text)}\\fR"


class Writer:
    """One page.

    `references` names the manual page that a page of docs/ or its section has become, as in `settings.md`:
    `camrec.conf(5)`, and `reference` is this one.
    """

    def __init__(self, references, reference):
        self.references = references
        self.reference = reference
        self.lines = []

    def text(self):
        lines, is_code = [], False
        for each in self.lines:
            is_code = each == ".EX" or is_code and each != ".EE"
            lines += [each] if is_code or each.startswith(".") else wrapped(each)
        return "\n".join(lines) + "\n"

    def title(self, name, section, date, source):
        self.lines.append(f'.TH "{plain(name.upper())}" {section} "{date}" "{plain(source)}" "camrec"')
        # Long options are not broken, and lines are not stretched.
        self.lines += [".nh", ".ad l"]

    def heading(self, text, level=1):
        self.lines.append(f".{'SH' if level == 1 else 'SS'} {self.inline(text.upper() if level == 1 else text)}")

    def gap(self):
        """What separates paragraphs; a heading has its own."""
        if not self.lines[-1].startswith((".SH", ".SS")):
            self.lines.append(".PP")

    def paragraph(self, text):
        self.gap()
        self.lines.append(line(self.inline(text)))

    def entry(self, tag, text):
        """A term and its explanation, both Markdown."""
        self.lines += [".TP", line(self.inline(tag)), line(self.inline(text))]

    def code(self, lines):
        self.gap()
        self.lines += [".RS 4", ".EX"]
        for each in lines:
            self.lines += [line(plain(part)) for part in folded(each)]
        self.lines += [".EE", ".RE"]

    def add(self, blocks, level=2):
        """Blocks of Markdown. Their highest heading gets `level`."""
        headings = [block.level for block in blocks if isinstance(block, markdown.Heading)]
        for block in blocks:
            match block:
                case markdown.Heading():
                    self.heading(block.text, level + block.level - min(headings))
                case markdown.Paragraph():
                    self.paragraph(block.text)
                case markdown.Bullets():
                    for item in block.items:
                        self.lines += [".IP \\(bu 2", line(self.inline(item))]
                case markdown.Code():
                    self.code(block.lines)
                case markdown.Table():
                    self.table(block.rows)

    def table(self, rows):
        """The first column as terms. Where there are several others, their names tell them apart."""
        (_, *names), *rows = rows
        for term, *rest in rows:
            if len(names) > 1:
                # What the term is comes first, and needs no name.
                cells = list(zip(names, rest))
                cells = ([("", rest[-1])] + cells[:-1]) if names[-1] == "what" else cells
                rest = [f"{name}: {cell}" if name else cell for name, cell in cells if cell]
            self.entry(term, "; ".join(rest))

    def inline(self, text):
        """A line of Markdown."""
        text = re.sub(r"(?P<before>[ ,;(]*)(?P<see>see )?\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]*)\)(?P<after>\))?", self.link, text)
        parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|[\w.@-]+\(\d\))", text.replace("&lt;", "<"))
        return "".join(map(self.part, parts))

    @staticmethod
    def part(text):
        if text.startswith("`"):
            return bold(text[1:-1])
        if text.startswith("**"):
            return f"\\fB{prose(text[2:-2])}\\fR"
        if match := re.fullmatch(r"([\w.@-]+)(\(\d\))", text):
            return f"{bold(match[1])}{match[2]}"
        # An option that is not marked as code.
        return "".join(
            plain(part) if part.startswith("-") else prose(part) for part in re.split(r"((?<![\w-])--?[a-z][\w-]*)", text))

    def link(self, match):
        """The text of a link and the manual page, or else the document, that it leads to."""
        before, see, text, target, after = (each or "" for each in match.group("before", "see", "text", "target", "after"))
        if example := re.search(r"/(examples/.*)", target):
            return f"{before}`{INSTALLED_DOCUMENTS}/{example[1]}`{after}"
        target = target.rpartition("/")[2] if ".md" in target else target
        name = target.partition("#")[0]
        page = self.references.get(target) or self.references.get(name) or DOCUMENTS.get(name) or (target if ":" in target else self.reference)
        if page == self.reference:
            return "" if see else f"{before}{text}{after}"
        return f"{before}{see}{page}{after}" if see else f"{before}{text} ({page}){after}"


def folded(line):
    """A wide line of code in lines that fit: its comment before it, options and their values on lines of their own."""
    if len(line) <= CODE_COLUMNS:
        return [line]
    if match := re.fullmatch(r"(.*\S) {2,}# (.*)", line):
        code, comment = match.groups()
        short = f"{code}  # {comment}"
        return [short] if len(short) <= CODE_COLUMNS else [f"# {comment}", *folded(code)]
    # Neither output nor a crontab has lines that go on.
    if not re.match(r" {4}|(camrec|camplay|camweb|mkdir|sed|ffplay|gst-launch-1.0) ", line):
        return [line]
    for gap in [match.start() for match in re.finditer(r" (?=--|[|!] |&& )", line)][::-1]:
        if 20 < gap <= CODE_COLUMNS:
            return [line[:gap] + " \\", *folded("    " + line[gap + 1:])]
    return [line]
