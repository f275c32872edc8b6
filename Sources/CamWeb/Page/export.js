// What is to be downloaded: a span of time, its two edges as text, and the progress of the file.

import { make, makeButton } from "./element.js";
import { length, minute, parse, second, size, written } from "./time.js";

// Milliseconds between looks at the progress.
const interval = 1000;
const settling = 300;

export class ExportPanel {
  #library;
  #listener;
  #selection = null;
  #abort = null;
  #timer = null;
  #parts = {};

  // listener: opened(selection), changed(selection or null), position(), bytes(from, to), isKept(from, to),
  //   keep(selection, isKept); keep is null if nothing can be kept
  constructor(name, library, listener) {
    this.#library = library;
    this.#listener = listener;
    this.element = make("section", { className: "export", ariaLabel: `${name}: export`, hidden: true });
    const parts = this.#parts;
    const edges = make("div", { className: "controls" });
    for (const [edge, title, here] of [["from", "Begin", "From here"], ["to", "End", "To here"]]) {
      const label = make("label", { textContent: title });
      parts[edge] = make("input", { type: "text", className: "when", autocomplete: "off", spellcheck: false, enterKeyHint: "done" });
      parts[edge].addEventListener("change", () => this.#type(edge));
      label.append(parts[edge]);
      edges.append(label, makeButton(here, () => this.#takePosition(edge), `The export ${edge === "from" ? "begins" : "ends"} where it plays`));
    }
    const row = make("div", { className: "controls" });
    parts.download = make("a", { className: "download", download: "" });
    parts.download.addEventListener("click", (event) => this.#download(event));
    parts.progress = make("progress", { hidden: true, max: 1000, ariaLabel: "Progress of the export" });
    parts.cancel = makeButton("Cancel", () => this.#abort?.abort(), "Stop making the file");
    parts.cancel.hidden = true;
    for (const part of ["making", "lack"]) parts[part] = make("span", { className: `note ${part}`, role: "status" });
    parts.keep = makeButton("Keep", () => listener.keep(this.#selection, parts.keep.textContent === "Keep"));
    parts.keep.classList.add("keep");
    parts.keep.hidden = listener.keep === null;
    row.append(parts.download, parts.progress, parts.cancel, parts.keep, makeButton("Clear", () => this.close(), "Close the export"),
      parts.making, parts.lack);
    this.element.append(edges, row);
  }

  get isOpen() {
    return this.#selection !== null;
  }

  // Begins with the time around what plays, or the last minute.
  open() {
    const position = this.#listener.position();
    const end = position === null ? Date.now() * 1000 : position + minute / 2;
    this.select({ from: Math.round(end - minute), to: Math.round(end) });
    this.#listener.opened(this.#selection);
  }

  close() {
    this.#abort?.abort();
    this.#selection = null;
    this.element.hidden = true;
    this.#say("");
    this.#listener.changed(null);
  }

  select({ from, to }) {
    this.#selection = { from, to: Math.max(to, from + second / 10) };
    this.element.hidden = false;
    const parts = this.#parts;
    for (const edge of ["from", "to"]) {
      parts[edge].value = written(this.#selection[edge]);
      parts[edge].removeAttribute("aria-invalid");
    }
    parts.download.href = this.#path("mp4");
    parts.lack.textContent = "";
    this.#listener.changed(this.#selection);
    this.refresh();
    // While an edge moves, only where it rests is asked about.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sayGaps(), settling);
  }

  // Says how much it is.
  refresh() {
    if (!this.#selection) return;
    const { from, to } = this.#selection;
    const { keep } = this.#parts;
    const isKept = this.#listener.isKept(from, to);
    keep.textContent = isKept ? "Release" : "Keep";
    keep.title = isKept ? "Let limits remove these recordings again" : "Keep these recordings: no limit removes them";
    this.#parts.download.textContent = `Download ${length(to - from)} as MP4, about ${size(this.#listener.bytes(from, to))}`;
  }

  // A span is never empty or the wrong way round: the other edge moves along.
  #set(edge, time) {
    const { from, to } = this.#selection;
    const span = to - from;
    if (edge === "from") this.select({ from: time, to: time < to ? to : time + span });
    else this.select({ from: time > from ? from : time - span, to: time });
  }

  #type(edge) {
    const input = this.#parts[edge];
    const time = parse(input.value, this.#selection[edge]);
    input.setAttribute("aria-invalid", String(time === null));
    if (time === null) return this.#say("write a time as 2026-11-24 10:15:30, or 10:15:30 for the same day");
    this.#say("");
    this.#set(edge, time);
  }

  #takePosition(edge) {
    const position = this.#listener.position();
    if (position === null) return this.#say("play a recording first; then choose where the export begins and ends");
    this.#say("");
    if (!this.#selection) this.open();
    this.#set(edge, Math.round(position));
  }

  #path(kind, { from, to } = this.#selection) {
    return this.#library.path(`.${kind}?from=${from}&to=${to}`);
  }

  #say(text) {
    this.#parts.making.textContent = text;
  }

  // Shows before a download what is missing in it.
  async #sayGaps() {
    const selection = this.#selection;
    if (!selection) return;
    const response = await fetch(this.#path("span")).catch(() => null);
    if (!response || this.#selection !== selection) return;
    const { lack } = this.#parts;
    if (!response.ok) {
      lack.textContent = (await response.text()).trim();
      return;
    }
    const { holes, missing } = await response.json();
    lack.textContent = holes > 0 ? `${holes === 1 ? "a gap" : `${holes} gaps`} in it: ${length(missing * 1000)} not recorded` : "";
  }

  // Shows the progress while the server makes the file, then downloads it.
  async #download(event) {
    event.preventDefault();
    if (this.#abort) return;
    const abort = (this.#abort = new AbortController());
    const selection = this.#selection;
    const timer = setInterval(() => this.#sayProgress(selection, abort), interval);
    this.#showMaking(true);
    this.#say("");
    try {
      const response = await fetch(this.#path("mp4"), { headers: { Range: "bytes=0-0" }, signal: abort.signal });
      if (!response.ok) throw new Error((await response.text()).trim());
      make("a", { href: this.#path("mp4", selection), download: "" }).click();
      this.#say("the browser downloads the file");
    } catch (error) {
      this.#say(abort.signal.aborted ? "canceled" : `no download: ${error.message}`);
    }
    clearInterval(timer);
    this.#abort = null;
    this.#showMaking(false);
  }

  #showMaking(isMaking) {
    const { progress, cancel, download } = this.#parts;
    download.hidden = isMaking;
    progress.hidden = cancel.hidden = !isMaking;
    // Without a value, the browser shows that something goes on.
    progress.removeAttribute("value");
  }

  async #sayProgress(selection, abort) {
    const response = await fetch(this.#path("span", selection)).catch(() => null);
    if (!response?.ok || this.#abort !== abort) return;
    const { position, made } = await response.json();
    if (position > 0) this.#say(`waiting for ${position === 1 ? "another download" : `${position} other downloads`}`);
    if (made === undefined) return;
    this.#parts.progress.value = made;
    this.#say(`making the file: ${Math.floor(made / 10)} %`);
  }
}
