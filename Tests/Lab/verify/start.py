#!/usr/bin/env python3
"""Whether a recording's first picture comes as soon as the slower of camera and encoder is ready.

usage: start.py DRIVER RATE     in the folder with start-DRIVER.camera-RATE, .encoder and .both-RATE
       start.py DRIVER          prints the first pictures' times without copies and with them: .FORMAT-auto, .FORMAT-off

Each file has the moments of some recordings, "NAME SECONDS", each beginning with "began"; the first warms up. Prints a
row of the table in docs/benchmarks.md. The limit is 1.05 times the slower of both alone, and the encoder's time for
the picture.
"""
import statistics
import sys


def recordings(path):
    """The moments of each recording, from its beginning; an encoder is opened when the last one before a picture is."""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, second = line.split()
            if name == "began":
                found.append({name: float(second)})
            elif name != "opened" or "sent" not in found[-1]:
                found[-1][name] = float(second) - found[-1]["began"]
    # The shell that begins the program begins, too.
    return [recording for recording in found if "coded" in recording][1:]


def median(runs, moment):
    return statistics.median(moment(run) for run in runs)


def ways(driver):
    for form in "YUYV", "NV12":
        auto, off = (median(recordings(f"start-{driver}.{form}-{way}"), lambda run: run["coded"]) for way in ("auto", "off"))
        print(f"start: | {form} | {auto:.2f} s | {off:.2f} s | {auto / off:.2f} |")


def main():
    if len(sys.argv) == 2:
        return ways(sys.argv[1])
    driver, rate = sys.argv[1:3]
    camera = recordings(f"start-{driver}.camera-{rate}")
    encoder = recordings(f"start-{driver}.encoder")
    both = recordings(f"start-{driver}.both-{rate}")
    frame, opened = median(camera, lambda run: run["frame"]), median(encoder, lambda run: run["opened"])
    coding = median(both, lambda run: run["coded"] - run["sent"])
    first = median(both, lambda run: run["coded"])
    between = median(both, lambda run: run["sent"] - max(run["opened"], run["frame"]))
    limit = 1.05 * max(frame, opened) + coding
    print("start: | " + " | ".join([
        f"{driver}, camera at {rate} frames/s", f"{frame:.2f} s", f"{opened:.2f} s", f"{coding:.2f} s", f"{first:.2f} s",
        f"{limit:.2f} s", f"{frame + opened + coding:.2f} s", f"{between * 1000:.0f} ms"]) + " |")
    if first > limit:
        sys.exit(f"the first picture came after {first:.2f} s, more than {limit:.2f} s")


main()
