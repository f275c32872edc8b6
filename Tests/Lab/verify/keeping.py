#!/usr/bin/env python3
"""Keeps recordings on the page as people do, and releases them.

usage: keeping.py keep URL NAME [--screenshot FILE]
                                   a span by "Export" and a recording beside its file's name, by mouse and by keys; the time
                                   line, the list and the events say what is kept; each is released
       keeping.py watch URL NAME   without the right to change something: what is kept is shown, and nothing keeps or releases
       keeping.py gone URL NAME    without a recorder the page says what to type

What is wrong is printed, with exit status 1.
"""
import argparse
import datetime
import json
import urllib.request

from browser import Browser, Failed, carry_out
from viewer import SIZES, TOUCH, Viewer, check_layout, show
from web import list_of, state_of


def kept(options):
    """The names that the recorder says are kept."""
    with urllib.request.urlopen(f"{options.url}cameras/{options.names[0]}/kept.json") as answer:
        return sorted(one["name"] for one in json.load(answer)["recordings"])


def part(viewer, selector):
    return f"{viewer.one}.querySelector({json.dumps(selector)})"


def play(viewer, segment):
    """Shows a recording, and waits until its file is named."""
    viewer.page.evaluate(f"location.hash = 'camera={viewer.name}&time={moment_of(segment)}'")
    viewer.page.wait(f"{state_of(viewer.name)} === 'recorded' && {part(viewer, '.note.file')}?.textContent.includes({json.dumps(segment['name'])})",
                     f"{segment['name']}, playing")


def moment_of(segment):
    time = datetime.datetime.fromtimestamp((segment["start"] + segment["end"]) / 2e6, datetime.timezone.utc)
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def select(viewer, begin, end):
    """Selects a span as text."""
    if viewer.page.evaluate(f"{part(viewer, '.export')}.hidden"):
        viewer.press("Export")
    for number, moment in enumerate((begin, end)):
        text = f"{datetime.datetime.fromtimestamp(moment / 1e6):%Y-%m-%d %H:%M:%S.%f}"
        viewer.page.evaluate(f"((field) => {{ field.value = '{text}'; field.dispatchEvent(new Event('change')); }})"
                             f"({viewer.one}.querySelectorAll('.when')[{number}])")


def keep(options):
    segments = [segment for segment in list_of(options)["segments"] if not segment["growing"]]
    first, second, third = segments[:3]
    with Browser() as browser:
        viewer = Viewer(browser, options, segments[0]["start"] / 1e6 + 0.5)
        page, button = viewer.page, part(viewer, ".export .keep")
        play(viewer, first)
        select(viewer, first["start"] + 100_000, second["end"] - 100_000)
        page.wait(f"{button}.textContent === 'Keep'", "a button that keeps the span")
        # By keyboard
        page.evaluate(f"{button}.focus()")
        page.press("Enter", "\r")
        viewer.until("both recordings of the span are kept", lambda: kept(options) == sorted([first["name"], second["name"]]))
        page.wait(f"{button}.textContent === 'Release'", "a button that releases the span")
        page.wait(f"{part(viewer, '.notes')}.textContent.includes('kept: 2 recordings')", "how many are kept")
        viewer.press("Clear")
        page.wait(f"{part(viewer, '.note.file')}.textContent.endsWith(', kept')", "that what plays is kept")
        page.wait(f"{viewer.line}.getAttribute('aria-valuetext').endsWith(', kept')", "that the time line says so")
        play(viewer, third)
        beside = part(viewer, ".notes .keep")
        page.wait(f"{beside}.textContent === 'Keep' && {beside}.checkVisibility()", "a button beside the file's name")
        page.evaluate(f"{beside}.click()")
        viewer.until("what plays is kept", lambda: len(kept(options)) == 3)
        page.wait(f"{beside}.textContent === 'Release'", "a button that releases what plays")
        if any(segment["event"] for segment in segments):
            page.wait(f"[...{viewer.one}.querySelectorAll('.events button')].filter((e) => e.ariaLabel.endsWith(', kept')).length === 3", "three events, kept")
        shown(viewer, options)
        # The list, without a mouse
        rows = f"{viewer.one}.querySelectorAll('.kept li')"
        page.wait(f"{rows}.length === 3", "three recordings in the list")
        page.evaluate(f"{rows}[2].querySelector('button').click()")
        page.wait(f"{part(viewer, '.note.file')}.textContent.includes({json.dumps(first['name'])})", "the oldest of the list, playing")
        for left in (2, 1, 0):
            page.evaluate(f"{rows}[0].querySelector('[data-kept]').focus()")
            page.press("Enter", "\r")
            viewer.until(f"{left} are still kept", lambda: len(kept(options)) == left)
            page.wait(f"{rows}.length === {left}", f"{left} in the list")
            if left and not page.evaluate("document.activeElement.closest('.kept') !== null"):
                raise Failed("the focus leaves the list")
        page.wait(f"{part(viewer, '.kept')}.hidden", "no list without kept recordings")
        viewer.finish()


def shown(viewer, options):
    """The list at each size, light and dark."""
    page = viewer.page
    viewer.press("Kept")
    page.wait(f"!{part(viewer, '.kept')}.hidden", "the list")
    for name, size in SIZES.items():
        for color in ("light", "dark"):
            show(page, size, color, name in TOUCH)
            page.evaluate("scrollTo(0, 0)")
            viewer.settle()
            if options.screenshot:
                page.screenshot(options.screenshot.replace(".", f"-{name}-{color}."))
            check_layout(viewer, f"kept, {name}, {color}", size)
    show(page, SIZES["laptop"], "light", False)


def watch(options):
    one = next(segment for segment in list_of(options)["segments"] if segment["name"] in kept(options))
    with Browser() as browser:
        viewer = Viewer(browser, options, one["start"] / 1e6 + 0.5)
        page = viewer.page
        page.wait(f"{part(viewer, '.note.file')}?.textContent.endsWith(', kept')", "that what plays is kept")
        viewer.press("Kept")
        page.wait(f"{viewer.one}.querySelectorAll('.kept li').length > 0", "the list")
        viewer.press("Export")
        if buttons := page.evaluate(f"[...{viewer.one}.querySelectorAll('button')].filter((e) => e.checkVisibility() && ['Keep', 'Release'].includes(e.textContent)).length"):
            raise Failed(f"{buttons} buttons would change something")
        viewer.finish()


def gone(options):
    segments = list_of(options)["segments"]
    with Browser() as browser:
        viewer = Viewer(browser, options, segments[0]["start"] / 1e6 + 0.5)
        page = viewer.page
        page.wait(f"{part(viewer, '.notes .keep')}?.checkVisibility()", "a button beside the file's name")
        page.evaluate(f"{part(viewer, '.notes .keep')}.click()")
        page.wait(f"/if it does not run: camrec keep \\/\\S*{segments[0]['name']}/.test({part(viewer, '.notes')}.textContent)", "the command to type")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for action in (keep, watch, gone):
        command = commands.add_parser(action.__name__)
        command.set_defaults(action=action)
        command.add_argument("url")
        command.add_argument("names", nargs=1, metavar="NAME")
        if action is keep:
            command.add_argument("--screenshot")
    carry_out(parser)


if __name__ == "__main__":
    main()
