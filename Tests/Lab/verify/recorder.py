"""A camrec that runs during a check, and must end cleanly on the first SIGTERM."""
import contextlib
import os
import re
import select
import subprocess
import sys


@contextlib.contextmanager
def recording(camrec, *arguments, **streams):
    recorder = subprocess.Popen(
        [camrec, "--device", "test", "--encoder", "software", "--size", "320x240", "--duration", "60s", "--listen", "0",
         *arguments], **streams)
    try:
        yield recorder
        recorder.terminate()
        if status := recorder.wait(timeout=10):
            sys.exit(f"status {status}")
    finally:
        recorder.kill()


def port_in(descriptor):
    """The port that receivers connect to, from what the recorder says; and what that was."""
    said = b""
    while not (found := re.search(rb"listening on .*:(\d+)", said)):
        readable, _, _ = select.select([descriptor], [], [], 20)
        more = os.read(descriptor, 4096) if readable else b""
        if not more:
            sys.exit(f"does not listen: {said.decode(errors='replace')}")
        said += more
    return int(found[1]), said
