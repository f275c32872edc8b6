"""Types command lines into a real shell on a terminal, asks it for completions, and prints them.

usage: shells.py bash|zsh|fish COMPLETIONS LINE...

COMPLETIONS is the folder that scripts/completions writes. Programs are found in PATH. Each line's completions stand on
one line, sorted; folders have no slash at their end, which some shells add later.
"""

import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

PATIENCE = 30
# Nobody types this.
END = "\x1fend\x1f"


class Terminal:
    """A shell, as someone at a terminal has it."""

    def __init__(self, arguments, environment, folder):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            arguments, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder, start_new_session=True)
        os.close(slave)
        self.said = ""

    def type(self, keys):
        os.write(self.master, keys.encode())

    def await_text(self, text):
        """What was printed up to a text."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.said:
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                sys.exit(f"shells: no {text!r} after {PATIENCE} s in {self.said!r}")
            self.said += os.read(self.master, 65536).decode(errors="replace")
        before, _, self.said = self.said.partition(text)
        return before

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


# What makes a shell put all completions in place of the word when Escape and * are typed.
SETUPS = {
    "bash": "bind 'set enable-bracketed-paste off'; source {folder}/bash/camrec; source {folder}/bash/camplay; "
            "source {folder}/bash/camweb",
    "zsh": "unsetopt zle_bracketed_paste prompt_sp; bindkey -e; fpath=({folder}/zsh $fpath); autoload -Uz compinit; compinit -u -D; "
           "zle -C all complete-word _generic; zstyle ':completion:all:*' completer _all_matches _complete; "
           "zstyle ':completion:all:*' insert yes; zstyle ':completion:all:*' old-matches false; bindkey '\\e*' all",
}
SHELLS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


def typed(shell, folder, lines):
    """The completions that bash or zsh puts into each line."""
    with tempfile.TemporaryDirectory() as printed:
        words = pathlib.Path(printed) / "words"
        terminal = Terminal(SHELLS[shell], os.environ | {"TERM": "dumb", "PS1": "$ ", "HISTFILE": ""}, os.getcwd())
        # The shell itself writes the end, so its echo of what was typed does not have it.
        end = "printf '\\037%s\\037\\n' end\n"
        terminal.type(f"{SETUPS[shell].format(folder=folder)}; {end}")
        terminal.await_text(END)
        for line in lines:
            # All completions of the last word; then the line becomes the arguments of a command that prints them.
            terminal.type(f"{line}\x1b*\x01printf '%s\\n' \x05 >{words}; {end}")
            said = terminal.await_text(END)
            if re.search(r"command not found|rror:|syntax|No such file", said):
                sys.exit(f"shells: {line!r}: {said}")
            given = len(line.split()) - (0 if line.endswith(" ") else 1)
            yield words.read_text(encoding="utf-8").splitlines()[given:]
        terminal.close()


def asked(folder, lines):
    """The completions that fish answers with."""
    for line in lines:
        command = f"source {folder}/fish/{line.split()[0]}.fish; complete -C '{line}'"
        result = subprocess.run(["fish", "--no-config", "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=True)
        if result.stderr:
            sys.exit(f"shells: {line!r}: {result.stderr}")
        yield [found.split("\t")[0] for found in result.stdout.splitlines()]


def main():
    shell, folder, *lines = sys.argv[1:]
    for found in asked(folder, lines) if shell == "fish" else typed(shell, folder, lines):
        print(" ".join(sorted({word.removesuffix("/") for word in found if word})))


if __name__ == "__main__":
    main()
