// The recordings that are kept, which no limit removes: keeps and releases them, and lists them.

import { make, makeButton } from "./element.js";
import { request } from "./request.js";
import { clock, size } from "./time.js";

export class Kept {
  #name;
  #canChange;
  #listener;
  #recordings = [];
  #names = new Set();
  // What is shown, as text.
  #shown = "";
  #list = make("ul");
  #note = make("p", { className: "note" });

  // canChange: whether the page may keep and release
  // listener: changed(count), play(time), noted(text)
  constructor(name, canChange, listener) {
    this.#name = name;
    this.#canChange = canChange;
    this.#listener = listener;
    this.element = make("section", { className: "kept", ariaLabel: `${name}: kept recordings`, hidden: true });
    this.element.append(this.#list, this.#note);
  }

  has({ name }) {
    return this.#names.has(name);
  }

  // When what is kept in a time was recorded, for recordings, or for runs that stand for very many.
  spans({ runs, segments }) {
    if (!runs) return segments.filter((segment) => this.has(segment));
    return this.#recordings.filter(({ begun }) => begun !== undefined).map(({ begun }) => ({ start: begun, end: begun }));
  }

  async refresh() {
    let list;
    try {
      list = await request(this.#name, "kept.json");
    } catch {
      // A recorder that does not run or answer has told what is kept, or will.
      return;
    }
    const shown = JSON.stringify(list);
    if (this.#shown === shown) return;
    this.#shown = shown;
    this.#recordings = list.recordings;
    this.#names = new Set(list.recordings.map(({ name }) => name));
    this.#show(list);
    this.#listener.changed(list.count);
  }

  // Keeps or releases the recordings from one to another.
  async mark(first, last, isKept) {
    const form = { command: isKept ? "keep" : "release", first: first.name };
    if (last.name !== first.name) form.last = last.name;
    try {
      const { kept } = await request(this.#name, "command", form);
      const count = kept.count === 1 ? "1 recording" : `${kept.count} recordings`;
      this.#listener.noted(isKept ? `kept: ${count}; no limit removes what is kept` : `released: ${count}`);
    } catch (error) {
      this.#listener.noted(`not ${isKept ? "kept" : "released"}: ${error.message}`);
    }
    await this.refresh();
  }

  // The newest first.
  #show({ count, bytes, recordings }) {
    const focused = document.activeElement?.dataset.kept;
    this.#list.replaceChildren(...recordings.toReversed().map((recording) => this.#makeItem(recording)));
    this.#note.textContent = `${count === 1 ? "1 recording" : `${count} recordings`} kept, ${size(bytes)} together`
      + (count > recordings.length ? `; the newest ${recordings.length} are listed` : "");
    if (focused) (this.#list.querySelector(`[data-kept="${CSS.escape(focused)}"]`) ?? this.#list.querySelector("button"))?.focus();
  }

  #makeItem(recording) {
    const { name, begun, bytes } = recording;
    const item = make("li");
    const what = [begun === undefined ? name : clock(begun), bytes === undefined ? "being recorded" : size(bytes)].join(", ");
    const play = makeButton(what, () => this.#listener.play(begun), `Play ${name ?? "this recording"}`);
    play.disabled = begun === undefined || name === undefined;
    item.append(play);
    if (!this.#canChange || name === undefined) return item;
    const release = makeButton("Release", () => this.mark(recording, recording, false), "Let limits remove it again");
    release.ariaLabel = `Release ${what}`;
    release.dataset.kept = name;
    item.append(release);
    return item;
  }
}
