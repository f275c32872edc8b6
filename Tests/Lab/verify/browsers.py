#!/usr/bin/env python3
"""Watches cameras in browsers as they are: with decoders that fail, without WebCodecs, and in Firefox.

usage: browsers.py decoders URL NAME     each decoder that claims to play the stream and fails is replaced after three
                                         errors, until one plays it or the page says what is wrong and what to do
       browsers.py slow URL NAME [--without-webcodecs] [--firefox]
                                         of a camera of one picture a second five pictures in a row are seen, usually within two
                                         seconds of their capture, it is live, and the player does not jump
       browsers.py many URL NAME...      without WebCodecs: all cameras move, and the page's other requests are answered
       browsers.py managed URL NAME      the same with a ManagedMediaSource only: Chromium's MediaSource under that name
       browsers.py groups URL NAME PID RATE [--firefox]
                                         without WebCodecs, a stream with hardly a keyframe: pictures move for longer than the
                                         page keeps them, and after a recorder that stood still goes on
       browsers.py reordered URL NAME    without WebCodecs, a stream with B frames: the page says what to do
       browsers.py firefox URL NAME [--without-webcodecs] [--screenshot FILE]
                                         Firefox: the live picture moves; a recording plays from a click on the time line, with
                                         the keyframe where the mouse is; the file that plays is downloaded

What is wrong is printed, with exit status 1.
"""
import argparse
import json
import os
import pathlib
import signal
import tempfile
import time

from browser import PATIENCE, Browser, Failed, carry_out
from firefox import Firefox
from web import LargeCamera, clock_of, list_of, read, state_of, watch

# Decoders of WebCodecs that claim to play everything; those of one preference, or all, fail or keep silent.
BROKEN = """(preferences, isSilent) => {
  window.failures = [];
  const Real = window.VideoDecoder;
  window.VideoDecoder = class extends Real {
    #callbacks;
    #preference;
    constructor(callbacks) { super(callbacks); this.#callbacks = callbacks; }
    static isConfigSupported(config) { return Promise.resolve({ supported: true, config }); }
    configure(config) { this.#preference = config.hardwareAcceleration ?? "no-preference"; super.configure(config); }
    decode(chunk) {
      if (!preferences.includes(this.#preference)) return super.decode(chunk);
      if (isSilent) return;
      setTimeout(() => {
        if (this.state === "closed") return;
        this.close();
        window.failures.push(this.#preference);
        this.#callbacks.error(new DOMException("it broke", "EncodingError"));
      });
    }
  };
}"""
COUNT_JUMPS = "window.jumps = 0; document.addEventListener('seeking', () => (window.jumps += 1), true);"
WITHOUT_WEBCODECS = "delete window.VideoDecoder;"
WITHOUT_MEDIA = "delete window.MediaSource;"
# A player that claims to play everything and takes nothing.
BROKEN_MEDIA = """SourceBuffer.prototype.appendBuffer = () => {
  window.failures.push("media");
  throw new DOMException("it broke", "InvalidStateError");
};"""
BOTH = ["no-preference", "prefer-software"]


def broken(preferences, is_silent=False):
    return f"({BROKEN})({json.dumps(preferences)}, {json.dumps(is_silent)});"


def tile(name):
    return f"document.querySelector('[data-name={json.dumps(name)}]')"


def decoders(options):
    name = options.names[0]
    one = tile(name)
    cases = [
        # What is wrong, what replaces it, in which element it plays; how often each kind failed
        ("the usual decoder fails", broken(BOTH[:1]), "software decoder", "canvas", BOTH[:1] * 3),
        ("the usual decoder is silent", broken(BOTH[:1], True), "software decoder", "canvas", []),
        ("both decoders fail", broken(BOTH), "Media Source Extensions", "video", [kind for kind in BOTH for _ in range(3)]),
    ]
    with Browser() as browser:
        for what, before, way, surface, failures in cases:
            page = browser.open(options.url, before=before)
            try:
                page.wait(f"{one}?.querySelector('.figures').textContent.includes({json.dumps(way)})", f"its replacement, the {way}")
                watch(page, name)
                page.wait(f"{state_of(name)} === 'live'", "a live camera")
                if not page.evaluate(f"{one}.querySelector('.picture > {surface}') !== null"):
                    raise Failed(f"it does not play in a {surface}")
                if (found := page.evaluate("window.failures")) != failures:
                    raise Failed(f"the failures are {found}, not {failures}")
            except Failed as problem:
                raise Failed(f"{what}: {problem}; failures: {page.evaluate('window.failures')}") from problem
            finally:
                if options.screenshot:
                    page.screenshot(options.screenshot.replace(".", f"-{cases.index((what, before, way, surface, failures))}."))
                page.close()
        for what, before, count in (("all decoders fail", broken(BOTH) + BROKEN_MEDIA, 9), ("no Media Source Extensions", broken(BOTH) + WITHOUT_MEDIA, 6)):
            page = browser.open(options.url, before=before)
            try:
                page.wait(f"{state_of(name)} === 'unplayable'", "a camera that cannot be played")
                said = page.evaluate(f"{one}.querySelector('.message').textContent")
                if "fails to play H.264 (avc1." not in said or "it broke" not in said or "; update it or use another browser" not in said:
                    raise Failed(f"the page says {said!r}")
                if (found := page.evaluate("window.failures.length")) != count:
                    raise Failed(f"{found} failures, not {count}")
                if options.screenshot:
                    page.screenshot(options.screenshot.replace(".", f"-{count}."))
            except Failed as problem:
                raise Failed(f"{what}: {problem}; failures: {page.evaluate('window.failures')}") from problem
            page.close()
        page = browser.open(options.url, before=WITHOUT_WEBCODECS + WITHOUT_MEDIA)
        page.wait(f"{one}?.querySelector('.message').textContent.includes('neither WebCodecs nor Media Source Extensions; update it')",
                  "what is wrong with a browser that has nothing")


def slow(options):
    """Succeeds with the first five pictures in a row; a busy machine may keep the browser from showing some before."""
    name, enough = options.names[0], 5
    with Firefox() if options.firefox else Browser() as browser:
        page = browser.open(options.url, before=COUNT_JUMPS + (WITHOUT_WEBCODECS if options.without_webcodecs else ""))
        page.wait(f"{state_of(name)} === 'live'", "a live camera")
        row, seen_before, deadline = [], [], time.monotonic() + 2 * PATIENCE
        while len(row) < enough:
            if time.monotonic() > deadline:
                raise Failed(f"no {enough} pictures in a row, but {seen_before + row} in {2 * PATIENCE} s; "
                             f"the page says {page.evaluate('document.body.innerText')!r}")
            seen = read(page, name)
            now = int(time.monotonic() * 1e6)
            if not seen or not any(sum(bar) for bar in seen["bars"]) or row and seen["number"] == row[-1][0]:
                continue
            if row and seen["number"] != row[-1][0] + 1:
                seen_before, row = seen_before + row, []
            if not row:
                before = page.evaluate("window.jumps")
            row.append((seen["number"], (now - seen["time"]) % (1 << 32) / 1e6))
        age = sorted(age for _, age in row)[enough // 2]
        if age > 2:
            raise Failed(f"the pictures and their ages in seconds are {row}")
        if (jumps := page.evaluate("window.jumps") - before) > 1:
            raise Failed(f"{jumps} jumps in {enough} pictures")
        if (state := page.evaluate(state_of(name))) != "live":
            raise Failed(f"it is {state}")
        print(f"pictures {row[0][0]} to {row[-1][0]}, seen {age:.2f} s after capture")


def many(options, before=WITHOUT_WEBCODECS):
    with Browser() as browser:
        page = browser.open(options.url, before=before)
        page.wait(f"document.querySelectorAll('.camera').length === {len(options.names)}", "all cameras on the page")
        for name in options.names:
            watch(page, name)
        page.wait(f"document.querySelectorAll('.camera[data-state=live]').length === {len(options.names)}", "live cameras")
        page.wait("fetch('/cameras.json').then((answer) => answer.ok)", "an answer to another request")
        if page.evaluate("document.querySelector('.picture > canvas') !== null"):
            raise Failed("the page uses WebCodecs")
        if options.screenshot:
            page.screenshot(options.screenshot)
        if found := page.complaints():
            raise Failed(f"the browser complains: {found}")


def managed(options):
    many(options, WITHOUT_WEBCODECS + "window.ManagedMediaSource = window.MediaSource;" + WITHOUT_MEDIA)


def reach(page, name, number):
    """Waits for a picture; returns its number, or that of a later one.

    In between, Firefox may show the keyframe from which it decodes.
    """
    seen, deadline = None, time.monotonic() + 2 * PATIENCE
    while not seen or seen["number"] < number:
        if time.monotonic() > deadline:
            raise Failed(f"{name}: no picture {number}, but {seen}")
        seen = read(page, name)
    return seen["number"]


def groups(options):
    name = options.names[0]
    with Firefox() if options.firefox else Browser() as browser:
        page = browser.open(options.url, before=WITHOUT_WEBCODECS)
        # Black, before the first picture, has the number 0.
        last = reach(page, name, 1)
        # Twenty seconds.
        last = reach(page, name, last + 20 * options.rate)
        os.kill(options.pid, signal.SIGSTOP)
        page.wait(f"{state_of(name)} === 'silent'", "the silence on the page")
        os.kill(options.pid, signal.SIGCONT)
        page.wait(f"{state_of(name)} === 'live'", "a live camera")
        reach(page, name, reach(page, name, last + 1) + 2 * options.rate)


def reordered(options):
    name = options.names[0]
    with Browser() as browser:
        page = browser.open(options.url, before=WITHOUT_WEBCODECS)
        page.wait(f"{tile(name)}?.querySelector('.message').textContent.includes('record without --bframes')", "what to do")
        if (state := page.evaluate(state_of(name))) != "unplayable":
            raise Failed(f"it is {state}")


def sizes_in(folder):
    """How large its files are; Firefox renames them when they are whole."""
    sizes = []
    for path in pathlib.Path(folder).iterdir():
        try:
            sizes.append(path.stat().st_size)
        except FileNotFoundError:
            pass
    return sizes


def firefox(options):
    name = options.names[0]
    options.size, options.dark = "1280x900", False
    segments = [segment for segment in list_of(options)["segments"] if not segment["growing"]]
    with tempfile.TemporaryDirectory() as downloads, Firefox() as browser:
        browser.command("browser.setDownloadBehavior", downloadBehavior={"type": "allowed", "destinationFolder": downloads})
        camera = LargeCamera(browser, options, WITHOUT_WEBCODECS if options.without_webcodecs else "")
        page = camera.page
        watch(page, name)
        page.wait(f"{state_of(name)} === 'live'", "a live camera")
        kind = "video" if options.without_webcodecs else "canvas"
        if not page.evaluate(f"{camera.one}.querySelector('.picture > {kind}:not(.recording)') !== null"):
            raise Failed(f"the live picture is not in a {kind}")
        begin, end = segments[0]["start"] / 1e6, segments[0]["end"] / 1e6
        page.wait(f"{camera.line}.hasAttribute('aria-valuemin')", "a time line")
        deadline = time.monotonic() + PATIENCE
        while not camera.is_recorded((begin + end) / 2):
            if time.monotonic() > deadline:
                raise Failed("the time line does not show what was recorded")
        if not options.without_webcodecs:
            wanted = (begin + end) / 2
            camera.mouse("moved", wanted)
            deadline = time.monotonic() + PATIENCE
            while not ((seen := read(page, name, ".preview canvas")) and wanted - 3 < clock_of(seen["time"], wanted) <= wanted + 0.1):
                if time.monotonic() > deadline:
                    raise Failed(f"no keyframe where the mouse is: {seen}")
        camera.click((begin + end) / 2)
        first = camera.wait_for("a click", (begin + end) / 2 - 0.2, (begin + end) / 2 + 2)
        camera.wait_for("it plays", first + 0.3, first + 5)
        if options.screenshot:
            page.screenshot(options.screenshot)
        page.evaluate(f"{camera.one}.querySelector('.file').click()")
        deadline = time.monotonic() + PATIENCE
        while segments[0]["bytes"] not in (sizes := sizes_in(downloads)):
            if time.monotonic() > deadline:
                raise Failed(f"the downloads have {sizes} bytes, not {segments[0]['bytes']}")
        camera.press("Live")
        watch(page, name)
        if found := page.complaints():
            raise Failed(f"the browser complains: {found}")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for action in (decoders, slow, many, managed, groups, reordered, firefox):
        command = commands.add_parser(action.__name__)
        command.set_defaults(action=action)
        command.add_argument("url")
        command.add_argument("names", nargs="+" if action is many else 1, metavar="NAME")
        if action is groups:
            command.add_argument("pid", type=int)
            command.add_argument("rate", type=int)
        command.add_argument("--screenshot")
        command.add_argument("--without-webcodecs", action="store_true")
        command.add_argument("--firefox", action="store_true")
    carry_out(parser)


if __name__ == "__main__":
    main()
