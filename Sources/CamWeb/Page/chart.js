// A small chart of a figure over the last two minutes.

import { make } from "./element.js";

const namespace = "http://www.w3.org/2000/svg";
const width = 240;
const height = 56;
// How long it looks back, in milliseconds.
const span = 120_000;

export class Chart {
  #points = [];
  #line;
  #area;
  #value;
  #most;
  #describe;

  // title: what it shows
  // describe(value): the value for people
  constructor(title, describe) {
    this.#describe = describe;
    this.element = make("figure", { className: "chart" });
    const caption = make("figcaption");
    this.#value = make("strong", { textContent: "–" });
    this.#most = make("span", { className: "most" });
    caption.append(make("span", { textContent: title }), this.#value, this.#most);
    const drawing = document.createElementNS(namespace, "svg");
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("preserveAspectRatio", "none");
    // The caption says it in words.
    drawing.setAttribute("aria-hidden", "true");
    [this.#area, this.#line] = ["area", "line"].map((name) => {
      const path = document.createElementNS(namespace, "path");
      path.classList.add(name);
      drawing.append(path);
      return path;
    });
    this.element.append(caption, drawing);
  }

  // time: milliseconds; value: null for a gap
  add(time, value) {
    this.#points = this.#points.filter((point) => point.time > time - span);
    this.#points.push({ time, value });
    this.#value.textContent = value === null ? "–" : this.#describe(value);
    this.#draw(time);
  }

  clear() {
    this.#points = [];
    this.#value.textContent = "–";
    this.#draw(0);
  }

  #draw(now) {
    const values = this.#points.filter(({ value }) => value !== null).map(({ value }) => value);
    const most = Math.max(...values, 0);
    this.#most.textContent = values.length > 1 ? `at most ${this.#describe(most)}` : "";
    const place = ({ time, value }) => {
      const x = width * (1 - (now - time) / span);
      const y = height - 2 - (most > 0 ? value / most : 0) * (height - 6);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    };
    const runs = [];
    let isGap = true;
    for (const point of this.#points) {
      if (point.value === null) {
        isGap = true;
        continue;
      }
      if (isGap) runs.push([]);
      isGap = false;
      runs.at(-1).push(place(point));
    }
    this.#line.setAttribute("d", runs.map((run) => `M${run.join("L")}`).join(""));
    const closed = runs.map((run) => {
      const [first, last] = [run[0], run.at(-1)].map((text) => text.split(",")[0]);
      return `M${first},${height}L${run.join("L")}L${last},${height}Z`;
    });
    this.#area.setAttribute("d", closed.join(""));
  }
}
