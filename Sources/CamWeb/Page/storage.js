// The storage page: each disk with what is on it, how long recordings are kept, and what is kept for good.

import { make, makeButton } from "./element.js";
import { Kept } from "./kept.js";
import { clock, day, size } from "./time.js";

// Milliseconds between looks.
const interval = 10_000;
const units = [["year", 365 * 86400], ["month", 30 * 86400], ["day", 86400], ["hour", 3600], ["minute", 60]];

export class Storage {
  #listener;
  #timer = null;
  #note = make("p", { className: "note", role: "status" });
  #disks = make("div");
  // The parts of each camera, by its name.
  #cameras = new Map();
  // Whether the page may keep and release.
  canChange = false;

  // listener: closed(), play(name, time)
  constructor(listener) {
    this.#listener = listener;
    this.element = make("section", { className: "storage", ariaLabel: "Storage", hidden: true });
    const head = make("div", { className: "controls" });
    head.append(makeButton("‹ All", () => listener.closed(), "Show all cameras (Esc)"), make("h2", { textContent: "Storage", tabIndex: -1 }));
    this.element.append(head, this.#note, this.#disks);
  }

  get isOpen() {
    return this.#timer !== null;
  }

  open() {
    if (this.isOpen) return;
    this.element.hidden = false;
    this.element.querySelector("h2").focus();
    this.#timer = setInterval(() => document.hidden || this.#refresh(), interval);
    this.#refresh();
  }

  close() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.element.hidden = true;
  }

  async #refresh() {
    try {
      const response = await fetch("storage.json");
      if (response.status === 401) location.assign(`login${location.hash}`);
      if (!response.ok) throw new Error((await response.text()).trim());
      this.#show(await response.json());
      this.#note.textContent = "";
    } catch (error) {
      this.#note.textContent = `no figures: ${error.message}`;
    }
  }

  #show({ disks, cameras }) {
    if (cameras.length === 0) this.#disks.replaceChildren(make("p", { textContent: "No camera here has recordings that camweb knows of." }));
    else this.#disks.replaceChildren(...disks.map((disk, index) => this.#makeDisk(disk, cameras.filter((camera) => camera.disk === index))), ...this.#makeLost(cameras));
  }

  #makeDisk({ total, free, cameras: names }, cameras) {
    const disk = make("article", { className: "disk" });
    const used = Math.max(0, total - free);
    const meter = make("meter", { min: 0, max: Math.max(1, total), value: used, ariaLabel: "Used space" });
    meter.textContent = `${Math.round(used / Math.max(1, total) * 100)} %`;
    disk.append(make("h3", { textContent: `Disk of ${names.join(", ")}` }), meter,
      make("p", { textContent: `${size(free)} free of ${size(total)}` }), ...cameras.map((camera) => this.#makeCamera(camera)));
    return disk;
  }

  // Cameras whose disk does not answer.
  #makeLost(cameras) {
    const lost = cameras.filter(({ disk }) => disk === undefined);
    if (lost.length === 0) return [];
    const element = make("article", { className: "disk" });
    element.append(make("h3", { textContent: "No answer from the disk" }), ...lost.map((camera) => this.#makeCamera(camera)));
    return [element];
  }

  #makeCamera(camera) {
    const parts = this.#partsOf(camera.name);
    parts.outlook.textContent = describeOutlook(camera);
    parts.outlook.classList.toggle("problem", ["full", "fullOfKept"].includes(camera.outlook.kind));
    const facts = [
      ["No answer", camera.silent ? "its disk or its recorder does not answer; what is shown here is older" : ""],
      ["Recorded", camera.count === undefined ? "unknown" : `${size(camera.bytes)} in ${files(camera.count)}`],
      ["From", camera.first === undefined ? "" : `${clock(camera.first)} to ${clock(camera.last)}, ${duration((camera.last - camera.first) / day * 86400)}`],
      ["Each day", camera.perDay === undefined ? "too little was recorded to tell" : size(camera.perDay)],
      ["Limits", describeLimits(camera.limits)],
      // What is kept is listed below.
      ["Kept", camera.kept?.count > 0 ? "" : camera.kept || camera.limits ? "nothing" : "no recorder answers"],
    ];
    parts.facts.replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) =>
      [make("dt", { textContent: name }), make("dd", { textContent: text })]));
    parts.kept.element.hidden = !(camera.kept?.count > 0);
    if (camera.kept) parts.kept.refresh();
    return parts.element;
  }

  // The parts stay, so that a button keeps the focus.
  #partsOf(name) {
    const known = this.#cameras.get(name);
    if (known?.canChange === this.canChange) return known;
    const parts = {
      canChange: this.canChange, element: make("section", { ariaLabel: name }), outlook: make("p", { className: "outlook" }),
      facts: make("dl"), said: make("p", { className: "note", role: "status" }),
    };
    parts.kept = new Kept(name, this.canChange, {
      changed: () => this.#refresh(),
      play: (time) => this.#listener.play(name, time),
      noted: (text) => (parts.said.textContent = text),
    });
    parts.element.append(make("h4", { textContent: name }), parts.outlook, parts.facts, parts.kept.element, parts.said);
    this.#cameras.set(name, parts);
    return parts;
  }
}

function describeOutlook({ outlook: { kind, seconds }, limits, count }) {
  switch (kind) {
    case "fills": return `The disk will be full in ${about(seconds)}; then nothing more is recorded.`;
    case "full": return "The disk is full: nothing is recorded. Free some space.";
    case "keeps": return `Old recordings are removed as needed: ${about(seconds)} are kept.`;
    case "fullOfKept": return "The recordings that are kept fill the limits: nothing is recorded. Release some.";
    case "idle": return count === 0 ? "Nothing is recorded yet." : "Nothing was recorded in the last days.";
    default: return limits === undefined ? "The recorder does not say which recordings it removes." : "Too little was recorded to tell how long the disk lasts.";
  }
}

function describeLimits(limits) {
  if (limits === undefined) return "unknown";
  const { seconds, bytes, count, free } = limits;
  const parts = [
    seconds !== undefined && duration(seconds), bytes !== undefined && size(bytes), count !== undefined && files(count),
  ].filter(Boolean);
  const most = parts.length > 0 ? `at most ${parts.join(", and at most ")}` : "";
  const least = free === undefined ? "" : `${size(free)} of the disk stay free`;
  return [most, least].filter(Boolean).join("; ") || "none: nothing is removed";
}

function files(count) {
  return count === 1 ? "1 file" : `${count.toLocaleString()} files`;
}

// A length of time in one unit: people plan in days, not in seconds.
function duration(seconds) {
  if (seconds < 90) return "less than 2 minutes";
  const [name, length] = units.find(([, length]) => seconds >= 1.5 * length) ?? units.at(-1);
  const count = Math.max(1, Math.round(seconds / length));
  return seconds >= 10 * units[0][1] ? "more than 10 years" : `${count} ${name}${count === 1 ? "" : "s"}`;
}

function about(seconds) {
  const text = duration(seconds);
  return /^\d/.test(text) ? `about ${text}` : text;
}
