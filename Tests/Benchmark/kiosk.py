#!/usr/bin/env python3
"""Shows a stream with camweb, in a browser that fills the screen, until it is terminated.

usage: kiosk.py CAMWEB ADDRESS
"""
import pathlib
import re
import signal
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "Lab/verify"))
from browser import Browser  # noqa: E402


def main():
    camweb, address = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    server = subprocess.Popen(
        [camweb, "--verbose", "--listen", "0", f"stream={address}"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        port = next(found[1] for line in server.stderr if (found := re.match(r"serving on .*:(\d+)$", line)))
        with Browser(window=(1280, 720)) as browser:
            page = browser.open(f"http://127.0.0.1:{port}/", size=None)
            page.wait("document.querySelector('.camera[data-state=live]') !== null", "a live picture")
            page.evaluate("document.querySelector('.camera button').focus()")
            page.press("f", "f")
            page.wait("document.fullscreenElement !== null", "the whole screen")
            signal.pause()
    finally:
        server.terminate()
        server.wait()


main()
