"""What camrec, camplay and camweb say of their commands and options."""

import dataclasses
import functools
import json
import os
import pathlib
import subprocess

# What every command has.
COMMON = ("help", "version")


def run(program, *arguments):
    """What a program prints, in lines that are not broken."""
    environment = os.environ | {"COLUMNS": "1000"}
    return subprocess.run([program, *arguments], capture_output=True, check=True, text=True, env=environment).stdout


@dataclasses.dataclass(frozen=True)
class Command:
    """A command, as --experimental-dump-help describes it."""

    program: pathlib.Path
    # `camrec record`; a program without commands is its own.
    name: str
    described: dict

    @property
    def abstract(self):
        return self.described["abstract"]

    @property
    def discussion(self):
        return self.described.get("discussion") or ""

    @functools.cached_property
    def usage(self):
        """The lines of --help that show how it is called."""
        text = run(self.program, *self.name.split()[1:], "--help").split("USAGE:")[1]
        return [line.strip() for line in text.split("\n\n")[0].splitlines()]

    @property
    def sections(self):
        """Its arguments by the title of their section: arguments first, options without a title last."""
        sections = {}
        for argument in self.described.get("arguments", []):
            if argument.get("shouldDisplay", True) and argument["valueName"] not in COMMON:
                positional = "Arguments" if argument["kind"] == "positional" else "Options"
                sections.setdefault(argument.get("sectionTitle") or positional, []).append(Argument(argument))
        order = sorted(sections, key=lambda title: (title == "Options", title != "Arguments"))
        return {title: without_opposites(sections[title]) for title in order}


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument, an option or a flag."""

    described: dict
    # Whether --no-NAME is its opposite.
    has_opposite: bool = False

    @property
    def name(self):
        """Without dashes."""
        return self.described["valueName"] if self.is_positional else self.described["preferredName"]["name"]

    @property
    def is_positional(self):
        return self.described["kind"] == "positional"

    @property
    def is_flag(self):
        return self.described["kind"] == "flag"

    @property
    def is_repeating(self):
        return self.described["isRepeating"]

    @property
    def value(self):
        """What stands for its value; upper case where that is its own name."""
        value = self.described["valueName"]
        return value.upper() if f"--{value}" in self.names else value

    @property
    def names(self):
        """With dashes, and its opposite last."""
        names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in self.described.get("names", [])]
        return names + ([f"--no-{self.name}"] if self.has_opposite else [])

    @property
    def meaning(self):
        """What it does, with its values and its default in backquotes, as in Markdown."""
        text = " ".join(self.described.get("abstract", "").split())
        values = self.described.get("allValues")
        if values:
            text += " Values: " + ", ".join(f"`{value}`" for value in values) + "."
        default = self.described.get("defaultValue")
        if default and "Default:" not in text and "default)" not in text and "the default" not in text:
            text += f" Default: `{default}`."
        return text


def without_opposites(arguments):
    """A flag and its --no- form as one."""
    flags = {argument.name for argument in arguments if argument.is_flag}
    opposites = {f"no-{name}" for name in flags} & flags
    return [
        dataclasses.replace(argument, has_opposite=f"no-{argument.name}" in opposites)
        for argument in arguments if argument.name not in opposites
    ]


def commands(program):
    """The commands of a program that it shows; first itself, if it has none or has arguments of its own."""
    own = overview(program)
    shown = [command for command in own.described.get("subcommands", []) if command.get("shouldDisplay", True)]
    named = [Command(program, f"{own.name} {command['commandName']}", command) for command in shown if command["commandName"] != "help"]
    return ([own] if own.sections or not named else []) + named


def overview(program):
    """A program as a whole."""
    described = json.loads(run(program, "--experimental-dump-help"))["command"]
    return Command(program, described["commandName"], described)
