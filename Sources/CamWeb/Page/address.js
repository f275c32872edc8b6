// The page's address says which camera is large, and the time that plays: #camera=door&time=2026-11-24T10:15:30Z; or
// #storage.

// Milliseconds between two times of what plays; browsers allow few changes.
const interval = 5000;

export class Address {
  #written = 0;

  // onChange({ camera, time, storage }): called when people go back or forth, or write another address
  constructor(onChange) {
    addEventListener("popstate", () => onChange(this.read()));
  }

  // Returns the camera and the time, in microseconds; null for none.
  read() {
    const values = new URLSearchParams(location.hash.slice(1));
    const time = Date.parse(values.get("time") ?? "");
    return { camera: values.get("camera"), storage: values.has("storage"), time: Number.isNaN(time) || time < 0 ? null : time * 1000 };
  }

  writeStorage() {
    if (!this.read().storage) history.pushState(null, "", `${location.pathname}#storage`);
  }

  // Another camera, or live in place of a recording, is a new place to which Back returns; another time is not.
  write(camera, time) {
    const before = this.read();
    const hash = camera === null ? "" : `#camera=${encodeURIComponent(camera)}${time === null ? "" : `&time=${describe(time)}`}`;
    if (hash === location.hash) return;
    const isOther = before.storage || before.camera !== camera || (before.time === null) !== (time === null);
    if (!isOther && performance.now() - this.#written < interval) return;
    this.#written = performance.now();
    const target = `${location.pathname}${hash}`;
    if (isOther) history.pushState(null, "", target);
    else history.replaceState(null, "", target);
  }
}

function describe(time) {
  return new Date(time / 1000).toISOString().replace(/\.\d+/, "");
}
