"""What a player shows: the test picture's stamp, read from the memory of a virtual screen."""
import mmap
import os
import struct
import subprocess
import time

# Windows without decoration, so that one of the screen's size covers all of it.
WINDOW_MANAGER = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<theme><keepBorder>no</keepBorder></theme>
<applications><application name="*"><decor>no</decor><focus>yes</focus></application></applications>
</openbox_config>
"""


class Screen:
    """A virtual screen whose pixels are a file in memory, in the format of xwd (XWDFile.h of X11)."""

    def __init__(self, folder, width, height):
        self.height = height
        reading, writing = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-fbdir", folder,
             "-nolisten", "tcp"], pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as display:
            self.environment = {
                **os.environ, "DISPLAY": f":{display.readline().strip()}", "SDL_RENDER_DRIVER": "software",
                "SDL_AUDIODRIVER": "dummy"}
        settings = f"{folder}/openbox.xml"
        with open(settings, "w") as file:
            file.write(WINDOW_MANAGER)
        self.manager = subprocess.Popen(
            ["openbox", "--config-file", settings], env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        with open(f"{folder}/Xvfb_screen0", "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        header = struct.unpack(">25I", self.memory[:100])
        self.stride = header[12]
        # The header, and twelve bytes for each colour of the map.
        self.start = header[0] + 12 * header[19]

    def end(self):
        for process in (self.manager, self.server):
            process.terminate()
            process.wait()

    def stamp(self):
        """The lower 32 bits of the time of capture, in microseconds, in the picture that is shown."""
        value = 0
        for row in (self.height - 24, self.height - 8):
            for block in range(16):
                green = self.memory[self.start + row * self.stride + (block * 16 + 8) * 4 + 1]
                value = value << 1 | (green > 128)
        return value

    def ages(self, seconds):
        """Watches for this long; returns for each picture how long after its capture it was first seen, in nanoseconds."""
        ages, last, candidate = [], None, None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now, stamp = time.monotonic_ns(), self.stamp()
            # A picture that is being drawn is not counted twice.
            if stamp != last and candidate and candidate[1] == stamp:
                age = ((candidate[0] // 1000 - stamp) % 2**32) * 1000
                if age < 100e9:
                    ages.append(age)
                last = stamp
            candidate = (now, stamp) if not candidate or candidate[1] != stamp else candidate
            time.sleep(0.0005)
        return ages
