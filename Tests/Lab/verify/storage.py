#!/usr/bin/env python3
"""Looks at the storage page as people do.

usage: storage.py URL NAME... [--screenshot FILE]
            the page by its button and by its address, with Back, Escape and keys: each camera with its figures, limits and
            estimate; at each size of a screen, light and dark, with contrast and nothing wider than the window; a kept
            recording is released there

What is wrong is printed, with exit status 1.
"""
import argparse
import json
import urllib.request

from browser import Browser, Failed, carry_out
from viewer import CONTRASTS, SIZES, TOUCH, show

ESTIMATES = {"keeps": "old recordings are removed as needed: ", "fills": "the disk will be full in "}
PAGE = "document.querySelector('.storage')"


def look(options):
    with urllib.request.urlopen(f"{options.url}storage.json") as answer:
        report = json.load(answer)
    if [camera["name"] for camera in report["cameras"]] != options.names or len(report["disks"]) != 1:
        raise Failed(f"the report has {report}")
    with Browser() as browser:
        page = browser.open(options.url)
        page.wait("document.querySelector('#storage')?.checkVisibility()", "a button for the storage page")
        page.evaluate("document.querySelector('#storage').focus()")
        page.press("Enter", "\r")
        page.wait(f"location.hash === '#storage' && {PAGE}.querySelectorAll('.disk > section').length === {len(options.names)}", "each camera")
        if page.evaluate("[...document.querySelectorAll('.camera')].some((e) => e.checkVisibility())"):
            raise Failed("the cameras are still shown")
        for camera in report["cameras"]:
            section = f"[...{PAGE}.querySelectorAll('.disk > section')].find((e) => e.ariaLabel === {json.dumps(camera['name'])})"
            text = page.evaluate(f"{section}.innerText")
            estimate = ESTIMATES[camera["outlook"]["kind"]]
            for wanted in ("recorded", "limits", "kept", "each day", estimate):
                if wanted not in text.lower():
                    raise Failed(f"{camera['name']}: no {wanted!r} in {text!r}")
        for name, size in SIZES.items():
            for color in ("light", "dark"):
                show(page, size, color, name in TOUCH)
                page.evaluate("scrollTo(0, 0)")
                page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
                if options.screenshot:
                    page.screenshot(options.screenshot.replace(".", f"-{name}-{color}."))
                check(page, f"storage, {name}, {color}", size)
        show(page, SIZES["laptop"], "light", False)
        release(page, options)
        page.press("Escape")
        page.wait(f"{PAGE}.hidden && location.hash === '' && document.activeElement.id === 'storage'", "the cameras after Escape")
        page.evaluate("history.back()")
        page.wait(f"!{PAGE}.hidden && location.hash === '#storage'", "the storage page after Back")
        page.evaluate("location.reload()")
        page.wait(f"{PAGE} && !{PAGE}.hidden && {PAGE}.querySelectorAll('.disk > section').length === {len(options.names)}", "the storage page after a reload")
        page.evaluate(f"[...{PAGE}.querySelectorAll('button')].find((e) => e.textContent.includes('All')).click()")
        page.wait(f"{PAGE}.hidden && document.querySelector('.camera').checkVisibility()", "the cameras after the button")
        if complaints := page.complaints():
            raise Failed(f"the browser complains: {complaints}")


def release(page, options):
    """What is kept is listed for its camera, plays, and can be released."""
    rows = f"{PAGE}.querySelectorAll('.kept [data-kept]')"
    page.wait(f"{rows}.length === 1", "one kept recording")
    page.evaluate(f"{rows}[0].focus()")
    page.press("Enter", "\r")
    page.wait(f"{rows}.length === 0 && {PAGE}.innerText.includes('nothing')", "nothing kept")
    with urllib.request.urlopen(f"{options.url}cameras/{options.names[0]}/kept.json") as answer:
        if count := json.load(answer)["count"]:
            raise Failed(f"{count} are still kept")


def check(page, what, size):
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        raise Failed(f"{what}: the page is wider than the window")
    texts = json.loads(page.evaluate(CONTRASTS))
    if len(texts) < 10 or (faint := [text for text in texts if text[0] < 4.5]):
        raise Failed(f"{what}: {len(texts)} texts, too faint: {faint if len(texts) >= 10 else ''}")
    small = json.loads(page.evaluate(
        "JSON.stringify([...document.querySelectorAll('.storage button')].filter((e) => e.checkVisibility())"
        ".map((e) => [e.getBoundingClientRect(), e.ariaLabel ?? e.textContent]).filter(([box]) => box.width < 24 || box.height < 24))"))
    if small:
        raise Failed(f"{what}: too small for a finger: {small}")
    if page.evaluate("[...document.querySelectorAll('.storage *')].filter((e) => e.checkVisibility()).some((e) => e.getBoundingClientRect().right > innerWidth + 1)"):
        raise Failed(f"{what}: something leaves the window")


def main():
    parser = argparse.ArgumentParser()
    parser.set_defaults(action=look)
    parser.add_argument("url")
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--screenshot")
    carry_out(parser)


if __name__ == "__main__":
    main()
