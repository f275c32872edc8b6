"""A Chromium, headless unless a window is asked for, driven over its DevTools protocol through two pipes: no port is open."""
import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time

PATIENCE = 60


class Failed(Exception):
    """What was expected of the page did not happen."""


def carry_out(parser):
    """Carries out the `action` that the command line names; what is wrong is printed, with exit status 1."""
    options = parser.parse_args()
    try:
        options.action(options)
    except Failed as problem:
        print(problem)
        sys.exit(1)


class Browser:
    """A browser with a profile of its own, which ends with the `with` block.

    pin: the hash of the key of a certificate to trust, whoever has signed it.
    window: the size of a window on the display that the environment names; None for none.
    """

    def __init__(self, pin=None, window=None):
        self.options = [f"--ignore-certificate-errors-spki-list={pin}"] if pin else []
        self.options += ["--kiosk", f"--window-size={window[0]},{window[1]}"] if window else ["--headless=new"]

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        to_browser, commands = os.pipe()
        answers, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes 4.
        script = f"exec chromium \"$@\" 3<&{to_browser} 4>&{from_browser}"
        self.process = subprocess.Popen(
            ["bash", "-c", script, "chromium", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--force-device-scale-factor=1", "--mute-audio", "--no-first-run", f"--user-data-dir={self.folder.name}",
             "--remote-debugging-pipe", *self.options, "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.folder.name}, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.commands, self.answers = commands, answers
        self.received, self.number, self.events = b"", 0, []
        return self

    def __exit__(self, *_):
        try:
            self.command("Browser.close")
            self.process.wait(timeout=10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()

    def command(self, method, session=None, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(deadline)
            if answer is None:
                raise Failed(f"the browser did not answer {method} for {PATIENCE} s")
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise Failed(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def receive(self, deadline):
        """The next message; None if there is none by then."""
        while b"\0" not in self.received:
            if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            data = os.read(self.answers, 1 << 16)
            if not data:
                raise Failed("the browser ended")
            self.received += data
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def open(self, url, size=(1280, 800), dark=False, before=""):
        """Opens a page in a tab of its own.

        size: None for the window's.
        before: a script that runs before the page's own.
        """
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page.command("Page.enable")
        page.command("Runtime.enable")
        page.command("Log.enable")
        if size:
            page.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                         mobile=size[0] < 600)
        page.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        # Tabs that are not in front would be hidden, and stop.
        page.command("Emulation.setFocusEmulationEnabled", enabled=True)
        if before:
            page.command("Page.addScriptToEvaluateOnNewDocument", source=before)
        page.command("Page.navigate", url=url)
        return page


class Page:
    """A tab."""

    world = {}

    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def command(self, method, **parameters):
        return self.browser.command(method, self.session, **parameters)

    def evaluate(self, expression):
        """The value of a JavaScript expression, which may be a promise."""
        result = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, **self.world)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def frame(self):
        """The page in the only frame of this one, of the same site: evaluated apart from the scripts there."""
        frame = self.command("Page.getFrameTree")["frameTree"]["childFrames"][0]["frame"]["id"]
        world = self.command("Page.createIsolatedWorld", frameId=frame)["executionContextId"]
        return Frame(self.browser, self.session, world)

    def wait(self, expression, what, patience=PATIENCE):
        """Waits until an expression is true; returns its value."""
        deadline = time.monotonic() + patience
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                raise Failed(f"{what}: not within {patience} s")
            time.sleep(0.05)

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            codes = {"Enter": 13, "Escape": 27, "Tab": 9}
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                         windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())), **extra)

    def mouse(self, kind, x, y):
        """Moves the mouse there; kind: moved, pressed or released."""
        extra = {} if kind == "moved" else {"button": "left", "clickCount": 1}
        self.command("Input.dispatchMouseEvent", type=f"mouse{kind.capitalize()}", x=x, y=y, **extra)

    def close(self):
        self.command("Page.close")

    def screenshot(self, path):
        data = self.command("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """What the browser itself finds wrong: exceptions, refused scripts, missing files."""
        # Collects what has arrived.
        self.evaluate("0")
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                entry = event["params"]["entry"]
                found.append(f"{entry['text']} {entry.get('url', '')}")
        return found


class Frame(Page):
    """A frame of a tab, as long as it shows the same document."""

    def __init__(self, browser, session, world):
        super().__init__(browser, session)
        self.world = {"contextId": world}
