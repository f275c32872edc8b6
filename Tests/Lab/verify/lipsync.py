#!/usr/bin/env python3
"""Measures when flashes on an X display and tones at a PulseAudio server's monitor begin.

usage: lipsync.py SECONDS [--within MS] [--least N]
Watches the display of DISPLAY and the monitor 'out.monitor' of PULSE_SERVER. Prints how much later than its flash each tone
begins, in milliseconds, and fails if one is off by more than --within, or if there are fewer pairs than --least.
"""
import argparse
import array
import os
import subprocess
import sys
import threading
import time

RATE = 48000


def listen(end, onsets):
    """Notes when each tone begins: after a silence of 0.3 s."""
    command = ["parec", "--raw", "--format=s16le", f"--rate={RATE}", "--channels=1", "--latency-msec=5", "--device=out.monitor"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        quiet = 0
        while time.monotonic() < end:
            block = os.read(process.stdout.fileno(), 65536)
            now = time.monotonic()
            if not block:
                break
            samples = array.array("h", block[: len(block) // 2 * 2])
            for index, sample in enumerate(samples):
                if abs(sample) < 500:
                    quiet += 1
                    continue
                if quiet > 0.3 * RATE:
                    onsets.append(now - (len(samples) - index) / RATE)
                quiet = 0
        process.kill()


def watch(end, onsets):
    """Notes when the middle of the display becomes bright."""
    command = ["ffmpeg", "-nostdin", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-framerate", "100", "-video_size", "16x16", "-grab_x", "312", "-grab_y", "232", "-i", os.environ["DISPLAY"], "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-flush_packets", "1", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
        dark = 0
        while time.monotonic() < end:
            picture = process.stdout.read(256)
            now = time.monotonic()
            if not picture:
                break
            if sum(picture) / len(picture) < 100:
                dark += 1
                continue
            if dark > 20:
                onsets.append(now)
            dark = 0
        process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float)
    parser.add_argument("--within", type=float, default=80)
    parser.add_argument("--least", type=int, default=3)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    flashes, tones = [], []
    threads = [threading.Thread(target=watch, args=(end, flashes)), threading.Thread(target=listen, args=(end, tones))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    offsets = []
    for flash in flashes:
        nearest = min(tones, key=lambda tone: abs(tone - flash), default=None)
        if nearest is not None and abs(nearest - flash) < 0.5:
            offsets.append((nearest - flash) * 1000)
    print(f"{len(flashes)} flashes, {len(tones)} tones, later by (ms):", " ".join(f"{offset:.0f}" for offset in offsets))
    if len(offsets) < options.least:
        sys.exit(f"{len(offsets)} pairs in place of {options.least}")
    worst = max(offsets, key=abs)
    if abs(worst) > options.within:
        sys.exit(f"a tone is {worst:.0f} ms late")


main()
