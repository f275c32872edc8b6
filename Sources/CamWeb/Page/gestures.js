// What a mouse or fingers do on the time line: a click chooses a time, a drag moves the time line, or what is held; two
// fingers and the wheel zoom; in a selection, a drag selects.

// Pixels by which a pointer may move and still click, and within which it takes hold of the place that plays.
const clickDistance = 4;
const reach = { mouse: 8, touch: 22 };

export class Gestures {
  #element;
  #line;
  #pointers = new Map();
  // What the pointers do; null for nothing yet.
  #action = null;

  // line: the time line: view, handle, timeAt(x), zoom(), pan(), point(), hold(), seek(), select()
  constructor(element, line) {
    this.#element = element;
    this.#line = line;
    // Whether a drag selects.
    this.selects = false;
    element.addEventListener("wheel", (event) => this.#turn(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.#begin(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#end(event));
    element.addEventListener("pointercancel", (event) => this.#leave(event));
    element.addEventListener("pointerleave", () => this.#pointers.size === 0 && line.point(null));
  }

  #place({ clientX }) {
    return clientX - this.#element.getBoundingClientRect().left - this.#element.clientLeft;
  }

  #turn(event) {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#line.pan(event.deltaX / this.#element.clientWidth);
    else this.#line.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#line.timeAt(this.#place(event)));
  }

  #begin(event) {
    if (event.button !== 0) return;
    this.#element.setPointerCapture(event.pointerId);
    const x = this.#place(event);
    this.#pointers.set(event.pointerId, x);
    if (this.#pointers.size === 2) return this.#beginPinch();
    if (this.#pointers.size > 2) return;
    const isHeld = Math.abs(x - this.#line.handle) <= (event.pointerType === "touch" ? reach.touch : reach.mouse);
    const kind = this.selects ? "select" : isHeld ? "hold" : "pan";
    this.#action = { kind, x, time: this.#line.timeAt(x), view: this.#line.view, isDrag: false };
    this.#line.point(x);
  }

  #beginPinch() {
    const [one, other] = [...this.#pointers.values()];
    this.#action = { kind: "pinch", times: [this.#line.timeAt(one), this.#line.timeAt(other)], isDrag: true };
    this.#line.point(null);
  }

  #move(event) {
    const x = this.#place(event);
    if (!this.#pointers.has(event.pointerId)) return this.#line.point(x);
    this.#pointers.set(event.pointerId, x);
    const action = this.#action;
    if (!action) return;
    action.isDrag ||= Math.abs(x - action.x) > clickDistance;
    if (!action.isDrag) return;
    if (action.kind === "pinch") return this.#pinch(action.times);
    this.#line.point(x);
    if (action.kind === "hold") this.#line.hold(this.#line.timeAt(x));
    if (action.kind === "select") this.#line.select(action.time, this.#line.timeAt(x));
    if (action.kind === "pan") this.#pan(action, x);
  }

  #pan({ view: { from, to }, x: begin }, x) {
    const shift = -(x - begin) / this.#element.clientWidth * (to - from);
    this.#line.view = { from: from + shift, to: to + shift };
  }

  // The times that were under the fingers stay under them.
  #pinch(times) {
    const places = [...this.#pointers.values()];
    const apart = Math.max(10, Math.abs(places[1] - places[0]));
    const perPixel = Math.abs(times[1] - times[0]) / apart;
    const from = Math.min(...times) - Math.min(...places) * perPixel;
    this.#line.view = { from, to: from + this.#element.clientWidth * perPixel };
  }

  #end(event) {
    const action = this.#action;
    const x = this.#place(event);
    this.#leave(event);
    if (!action || action.kind === "pinch" || action.isDrag && action.kind !== "hold") return;
    this.#line.seek(this.#line.timeAt(x));
  }

  #leave(event) {
    this.#pointers.delete(event.pointerId);
    this.#action = null;
    this.#line.hold(null);
    // A finger that is lifted no longer points anywhere.
    if (event.pointerType === "touch" || event.type === "pointercancel") this.#line.point(null);
  }
}
