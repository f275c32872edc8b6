// A time line of recordings: what there is, where it plays, and what is selected. All times are in microseconds.

export const second = 1e6;
const narrowest = 10 * second;
const widest = 400 * 86400 * second;
// Pixels by which a pointer may move and still click.
const clickDistance = 4;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
  2592000];

export class Timeline {
  #listener;
  #context;
  #pointer = null;
  #hover = null;
  #scheduled = false;

  // What is shown: { start, end, event, growing } each.
  #segments = [];
  #view;
  #position = null;
  #selection = null;

  // listener: seek(time), scrub(time or null, x), viewed({ from, to }), toggle()
  constructor(name, view, listener) {
    this.#listener = listener;
    this.#view = view;
    this.element = document.createElement("canvas");
    this.element.className = "timeline";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "slider");
    this.element.setAttribute("aria-label", `${name}: time line of recordings`);
    this.#context = this.element.getContext("2d");
    this.#listen();
    new ResizeObserver(() => this.#draw()).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#redraw());
  }

  get view() {
    return this.#view;
  }

  set view({ from, to }) {
    const width = Math.min(Math.max(to - from, narrowest), widest);
    const center = (from + to) / 2;
    const begin = Math.max(0, Math.round(center - width / 2));
    this.#view = { from: begin, to: begin + Math.round(width) };
    this.#redraw();
    this.#listener.viewed(this.#view);
  }

  set segments(segments) {
    this.#segments = segments;
    this.#redraw();
  }

  // Where it plays; null for live.
  set position(time) {
    this.#position = time;
    this.#redraw();
  }

  set selection(selection) {
    this.#selection = selection;
    this.#redraw();
  }

  // A factor below 1 shows more detail.
  zoom(factor, around = this.#position ?? (this.#view.from + this.#view.to) / 2) {
    const { from, to } = this.#view;
    const place = around >= from && around <= to ? around : (from + to) / 2;
    this.view = { from: place - (place - from) * factor, to: place + (to - place) * factor };
  }

  // Moves by a part of what is shown.
  pan(part) {
    const { from, to } = this.#view;
    this.view = { from: from + (to - from) * part, to: to + (to - from) * part };
  }

  // Shows a time, if it is not shown yet.
  reveal(time) {
    const { from, to } = this.#view;
    if (time < from || time > to) this.view = { from: time - (to - from) / 2, to: time + (to - from) / 2 };
  }

  #listen() {
    const { element } = this;
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / element.clientWidth);
      else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#time(event));
    }, { passive: false });
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.#pointer = { x: event.clientX, view: this.#view, isDrag: false };
    });
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => {
      if (this.#pointer && !this.#pointer.isDrag) this.#listener.seek(this.#time(event));
      this.#pointer = null;
    });
    element.addEventListener("pointercancel", () => (this.#pointer = null));
    element.addEventListener("pointerleave", () => this.#scrub(null));
    element.addEventListener("keydown", (event) => this.#press(event));
  }

  #move(event) {
    const pointer = this.#pointer;
    if (!pointer) return this.#scrub(event);
    const distance = event.clientX - pointer.x;
    pointer.isDrag ||= Math.abs(distance) > clickDistance;
    if (!pointer.isDrag) return;
    const { from, to } = pointer.view;
    const shift = -distance / this.element.clientWidth * (to - from);
    this.#scrub(null);
    this.view = { from: from + shift, to: to + shift };
  }

  #scrub(event) {
    this.#hover = event && this.#time(event);
    this.#listener.scrub(this.#hover, event ? event.clientX - this.element.getBoundingClientRect().left : 0);
    this.#redraw();
  }

  #press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { from, to } = this.#view;
    const step = event.shiftKey ? second : (to - from) / 100;
    const place = this.#position ?? Math.min(to, this.#segments.at(-1)?.end ?? to);
    const actions = {
      ArrowLeft: () => this.#listener.seek(place - step),
      ArrowRight: () => this.#listener.seek(place + step),
      PageUp: () => this.pan(-0.5),
      PageDown: () => this.pan(0.5),
      Home: () => this.#segments.length > 0 && this.#listener.seek(this.#segments[0].start),
      End: () => this.#segments.length > 0 && this.#listener.seek(this.#segments.at(-1).start),
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      " ": () => this.#listener.toggle(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  #time(event) {
    const { left, width } = this.element.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - left) / Math.max(1, width), 0), 1);
    return Math.round(this.#view.from + part * (this.#view.to - this.#view.from));
  }

  #redraw() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  #draw() {
    const { element } = this;
    const [width, height, scale] = [element.clientWidth, element.clientHeight, devicePixelRatio];
    if (width === 0) return;
    if (element.width !== Math.round(width * scale)) element.width = Math.round(width * scale);
    if (element.height !== Math.round(height * scale)) element.height = Math.round(height * scale);
    const style = getComputedStyle(element);
    const color = (name) => style.getPropertyValue(name);
    const context = this.#context;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    this.#drawTicks(width, height, color);
    const x = (time) => (time - this.#view.from) / (this.#view.to - this.#view.from) * width;
    const fill = (from, to, top, bottom, least = 0) => {
      const begin = Math.max(-1, x(from));
      context.fillRect(begin, top, Math.max(Math.min(width + 1, x(to)) - begin, least), bottom - top);
    };
    for (const { start, end, event, growing } of this.#segments) {
      if (end < this.#view.from || start > this.#view.to) continue;
      context.fillStyle = color(event ? "--event" : growing ? "--live" : "--accent");
      fill(start, end, 22, height - 8, 1);
    }
    if (this.#selection) {
      context.fillStyle = color("--selection");
      fill(this.#selection.from, this.#selection.to, 18, height - 4, 2);
    }
    for (const [time, name] of [[this.#hover, "--muted"], [this.#position, "--ink"]]) {
      if (time === null) continue;
      context.fillStyle = color(name);
      context.fillRect(Math.round(x(time)) - 1, 16, 2, height - 16);
    }
    this.#describe();
  }

  #drawTicks(width, height, color) {
    const { from, to } = this.#view;
    const isLong = to - from > 2 * 86400 * second;
    const room = Math.max(2, width / (isLong ? 60 : 75));
    const step = (steps.find((step) => (to - from) / second / step <= room) ?? steps.at(-1)) * second;
    // Steps begin at local midnight, not at Greenwich's.
    const offset = -new Date(from / 1000).getTimezoneOffset() * 60 * second;
    const context = this.#context;
    context.font = `11px ${getComputedStyle(this.element).fontFamily}`;
    context.textBaseline = "top";
    for (let time = Math.ceil((from + offset) / step) * step - offset; time < to; time += step) {
      const x = (time - from) / (to - from) * width;
      context.fillStyle = color("--line");
      context.fillRect(Math.round(x), 16, 1, height - 16);
      context.fillStyle = color("--muted");
      const date = new Date(time / 1000);
      const text = step >= 86400 * second
        ? date.toLocaleDateString([], { day: "numeric", month: "short" })
        : date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(step < 60 * second && { second: "2-digit" }) });
      if (x + 3 + context.measureText(text).width < width) context.fillText(text, x + 3, 2);
    }
  }

  #describe() {
    const { element } = this;
    const time = this.#position ?? this.#view.to;
    element.setAttribute("aria-valuemin", (this.#view.from / second).toFixed(3));
    element.setAttribute("aria-valuemax", (this.#view.to / second).toFixed(3));
    element.setAttribute("aria-valuenow", (time / second).toFixed(3));
    element.setAttribute("aria-valuetext", this.#position === null ? "live" : clock(time));
  }
}

// A time of day with its date, in local time.
export function clock(time) {
  return new Date(time / 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
}
