"""A headless Firefox, driven over WebDriver BiDi: a port of the loopback interface, which the browser chooses."""
import base64
import json
import os
import pathlib
import re
import select
import subprocess
import tempfile
import threading
import time

from browser import PATIENCE, Failed, Page
from websocket import WebSocket

PROGRAM = "firefox-esr"
# It fetches nothing of its own: no updates, decoders, experiments, lists or reports.
PREFERENCES = {
    "app.normandy.enabled": False, "app.update.disabledForTesting": True, "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False, "extensions.update.enabled": False,
    "media.gmp-manager.url": "", "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "toolkit.telemetry.enabled": False,
}


class Firefox:
    """A browser with a profile of its own, which ends with the `with` block; used like `browser.Browser`."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        pathlib.Path(self.folder.name, "user.js").write_text("".join(lines), encoding="utf-8")
        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-remote", "--profile", self.folder.name, "--remote-debugging-port", "0", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "HOME": self.folder.name}, start_new_session=True)
        self.socket, self.number, self.events = None, 0, []
        self.reader = threading.Thread(target=self.process.stderr.read, daemon=True)
        try:
            port = self.find_port()
            # A browser whose messages nobody reads would stop once the pipe is full.
            self.reader.start()
            self.socket = WebSocket(port, "/session")
            self.command("session.new", capabilities={})
            self.command("session.subscribe", events=["log.entryAdded"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.socket:
                self.command("browser.close")
            self.process.wait(timeout=10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        if self.socket:
            self.socket.close()
        if self.reader.ident:
            self.reader.join(timeout=10)
        if not self.reader.is_alive():
            self.process.stderr.close()
        self.folder.cleanup()

    def find_port(self):
        """The port that the browser names in its messages."""
        said, deadline = b"", time.monotonic() + PATIENCE
        while not (found := re.search(rb"BiDi listening on ws://127\.0\.0\.1:(\d+)\n", said)):
            if not select.select([self.process.stderr], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failed(f"{PROGRAM} names no port for {PATIENCE} s")
            more = os.read(self.process.stderr.fileno(), 1 << 12)
            if not more:
                raise Failed(f"{PROGRAM} ended: {said.decode(errors='replace')}")
            said += more
        return int(found[1])

    def command(self, method, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.message()[1])
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif answer["type"] == "error":
                raise Failed(f"{method}: {answer['error']}: {answer['message']}")
            else:
                return answer["result"]

    def open(self, url, size=(1280, 800), dark=False, before=""):
        """Opens a page in a window of its own: a tab that is not in front would be hidden, and stop."""
        if dark:
            raise Failed("Firefox has no dark page here")
        context = self.command("browsingContext.create", type="window")["context"]
        page = FirefoxPage(self, context)
        page.command("browsingContext.setViewport", viewport={"width": size[0], "height": size[1]}, devicePixelRatio=1)
        if before:
            self.command("script.addPreloadScript", functionDeclaration=f"() => {{ {before} }}", contexts=[context])
        page.command("browsingContext.navigate", url=url, wait="interactive")
        return page


class FirefoxPage(Page):
    """A window."""

    KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "End": "\ue010"}

    def command(self, method, **parameters):
        return self.browser.command(method, context=self.session, **parameters)

    def evaluate(self, expression):
        answer = self.browser.command(
            "script.evaluate", expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self.session}, awaitPromise=True, userActivation=False)
        if answer["type"] == "exception":
            raise Failed(answer["exceptionDetails"]["text"])
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def press(self, key, text=""):
        self.act("key", [{"type": kind, "value": self.KEYS.get(key, key)} for kind in ("keyDown", "keyUp")])

    def mouse(self, kind, x, y):
        steps = {"moved": [], "pressed": [{"type": "pointerDown", "button": 0}], "released": [{"type": "pointerUp", "button": 0}]}
        self.act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y)}, *steps[kind]])

    def act(self, kind, actions):
        self.command("input.performActions", actions=[{"type": kind, "id": kind, "actions": actions}])

    def close(self):
        self.command("browsingContext.close")

    def screenshot(self, path):
        data = self.command("browsingContext.captureScreenshot")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        # Collects what has arrived.
        self.evaluate("0")
        entries = [event["params"] for event in self.browser.events if event["method"] == "log.entryAdded"]
        return [entry["text"] for entry in entries if entry["level"] == "error" and entry["source"].get("context") == self.session]
