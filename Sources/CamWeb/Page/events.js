// The events of the time in view, the newest first, each with a picture.

import { make } from "./element.js";
import { Thumbnails } from "./keyframe.js";
import { clock, length, shortClock } from "./time.js";

// People do not look through more.
const most = 60;

export class EventList {
  #onChoose;
  #thumbnails;
  #items = new Map();
  #list = make("ul");
  #note = make("p", { className: "note" });

  // onChoose(time): called to play an event
  constructor(name, library, onChoose) {
    this.#onChoose = onChoose;
    this.#thumbnails = new Thumbnails(library);
    this.element = make("section", { className: "events", ariaLabel: `${name}: events`, hidden: true });
    this.element.append(this.#list, this.#note);
  }

  // list: recordings, or runs of them if there are too many
  show({ segments, runs }, { from, to }) {
    const events = segments.filter(({ event, start, end }) => event && end > from && start < to).reverse();
    const shown = events.slice(0, most);
    const items = shown.map((segment) => this.#items.get(segment.id) ?? this.#make(segment));
    this.#items = new Map(shown.map(({ id }, index) => [id, items[index]]));
    // What stays keeps its place and the focus.
    items.forEach((item, index) => {
      if (this.#list.children[index] !== item) this.#list.insertBefore(item, this.#list.children[index] ?? null);
    });
    while (this.#list.children.length > items.length) this.#list.lastChild.remove();
    shown.forEach((segment, index) => this.#describe(items[index], segment));
    this.#note.textContent = runs ? "too many events; show a shorter time" : describe(events.length);
  }

  // Marks the event that plays.
  mark(time) {
    for (const item of this.#items.values()) {
      const { start, end } = item.dataset;
      const isPlaying = time !== null && start <= time && time < end;
      if (isPlaying) item.firstChild.setAttribute("aria-current", "true");
      else item.firstChild.removeAttribute("aria-current");
    }
  }

  #make(segment) {
    const item = make("li");
    const button = make("button", { type: "button" });
    const canvas = make("canvas", { width: 160, height: 90 });
    canvas.ariaHidden = "true";
    button.append(canvas, make("span"));
    button.addEventListener("click", () => this.#onChoose(segment.start));
    item.append(button);
    this.#thumbnails.add(canvas, segment);
    return item;
  }

  #describe(item, { start, end, growing, kept }) {
    Object.assign(item.dataset, { start, end });
    const button = item.firstChild;
    const mark = kept ? ", kept" : "";
    button.lastChild.textContent = `${shortClock(start)}, ${growing ? "now" : length(end - start)}${mark}`;
    button.ariaLabel = `event of ${clock(start)}, ${growing ? "still recorded" : length(end - start)}${mark}`;
  }
}

function describe(count) {
  if (count === 0) return "no events in the time shown";
  return count > most ? `the newest ${most} of ${count} events; show a shorter time for the others` : "";
}
