// The two edges of what is selected on the time line: dragged by mouse or finger, or moved by keys.

import { make } from "./element.js";
import { clock, minute, second } from "./time.js";

export class SelectionEdges {
  #onChange;
  #selection = null;
  // Microseconds of a pixel, for a drag.
  #perPixel = 1;

  // onChange({ from, to }): called while an edge is moved
  constructor(onChange) {
    this.#onChange = onChange;
    this.elements = [["from", "Export begins"], ["to", "Export ends"]].map(([edge, label]) => this.#make(edge, label));
  }

  // null for none
  set selection(selection) {
    this.#selection = selection;
  }

  // x(time): where a time is on the time line, in pixels
  place(view, x) {
    this.#perPixel = (view.to - view.from) / Math.max(1, x(view.to));
    for (const element of this.elements) {
      const time = this.#selection?.[element.dataset.edge];
      element.hidden = !this.#selection || time < view.from || time > view.to;
      if (element.hidden) continue;
      element.style.left = `${x(time)}px`;
      element.setAttribute("aria-valuemin", (view.from / second).toFixed(3));
      element.setAttribute("aria-valuemax", (view.to / second).toFixed(3));
      element.setAttribute("aria-valuenow", (time / second).toFixed(3));
      element.setAttribute("aria-valuetext", clock(time));
    }
  }

  #make(edge, label) {
    const element = make("div", { className: "edge", tabIndex: 0, role: "slider", ariaLabel: label, hidden: true });
    element.dataset.edge = edge;
    let drag = null;
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      drag = { x: event.clientX, time: this.#selection[edge] };
    });
    element.addEventListener("pointermove", (event) => {
      if (drag) this.#move(edge, drag.time + (event.clientX - drag.x) * this.#perPixel);
    });
    for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, () => (drag = null));
    element.addEventListener("keydown", (event) => this.#press(event, edge));
    return element;
  }

  #press(event, edge) {
    const steps = { ArrowLeft: -second, ArrowRight: second, PageUp: -minute, PageDown: minute };
    if (!Object.hasOwn(steps, event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.#move(edge, this.#selection[edge] + steps[event.key] * (event.shiftKey ? 10 : 1));
  }

  // An edge stops a second before the other one.
  #move(edge, time) {
    const { from, to } = this.#selection;
    const moved = edge === "from" ? { from: Math.min(time, to - second), to } : { from, to: Math.max(time, from + second) };
    this.#onChange({ from: Math.round(moved.from), to: Math.round(moved.to) });
  }
}
