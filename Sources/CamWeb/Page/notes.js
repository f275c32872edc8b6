// What is said below the player: messages, the file that plays, and recordings that cannot be shown.

import { make, makeButton } from "./element.js";
import { size } from "./time.js";

export class Notes {
  #library;
  #segment = null;
  #keep;
  #part;
  #file = make("a", { className: "note file", download: "" });
  #message = make("span", { className: "note", role: "status" });
  #progress = make("span", { className: "note" });
  #problem = make("div", { className: "note problem" });
  // The problems that are shown, as text.
  #shown = "";

  // onKeep(segment, isKept): keeps the recording that plays, or releases it; null if that cannot be done
  constructor(library, onKeep) {
    this.#library = library;
    this.#keep = makeButton("Keep", () => onKeep(this.#segment, !this.#segment.kept));
    this.#keep.classList.add("keep");
    this.#keep.hidden = onKeep === null;
    const file = make("span", { className: "controls" });
    file.append(this.#file, this.#keep);
    this.#part = file;
    file.hidden = true;
    this.element = make("div", { className: "notes" });
    this.element.append(this.#message, file, this.#progress, this.#problem);
  }

  say(text) {
    this.#message.textContent = text;
  }

  // Offers the file that plays; null for none.
  showFile(segment) {
    this.#part.hidden = !segment;
    this.#segment = segment;
    if (!segment) return;
    this.#keep.textContent = segment.kept ? "Release" : "Keep";
    this.#keep.title = segment.kept ? "Let limits remove this recording again" : "Keep this recording: no limit removes it";
    this.#file.href = this.#library.path(`/${segment.id}`);
    this.#file.textContent = `${segment.name}, ${size(segment.bytes)}${segment.kept ? ", kept" : ""}`;
  }

  // Files with a wrong date are far from every time line in use, so they are offered here.
  showProblems(problems) {
    const shown = JSON.stringify(problems);
    if (this.#shown === shown) return;
    this.#shown = shown;
    const lines = problems.map(({ name, reason, id }) => {
      const line = make("div", { textContent: `${name}: ${reason}` });
      if (id) line.append(" ", make("a", { href: this.#library.path(`/${id}`), textContent: "Download", download: "" }));
      return line;
    });
    this.#problem.replaceChildren(...lines.slice(0, 1));
    if (lines.length < 2) return;
    const more = make("details");
    more.append(make("summary", { textContent: `and ${lines.length - 1} more` }), ...lines.slice(1));
    this.#problem.append(more);
  }

  // progress: of the index; undefined once it is complete
  showProgress(progress) {
    this.#progress.textContent = progress
      ? `reading the recordings: ${progress.found} files found, ${progress.waiting} still to be looked into` : "";
  }
}
