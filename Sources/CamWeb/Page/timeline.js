// A time line of recordings: what there is, where it plays, and what is selected.

import { make } from "./element.js";
import { Gestures } from "./gestures.js";
import { SelectionEdges } from "./selection.js";
import { clock, day, minute, second } from "./time.js";

const narrowest = 10 * second;
const widest = 400 * day;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
  2592000];
// Where the recordings are, in pixels from above and below.
const band = { top: 22, bottom: 8 };

export class Timeline {
  #listener;
  #canvas;
  #context;
  #gestures;
  #edges;
  // Where the pointer is, in pixels; null if it is elsewhere.
  #pointer = null;
  #scheduled = false;

  // What is shown: { start, end, event, growing } each; recordings or runs of them.
  #segments = [];
  #view;
  #position = null;
  // Where the place that plays is being dragged to.
  #held = null;
  #selection = null;
  // When what is kept was recorded.
  #kept = [];

  // listener: seek(time), scrub(time or null, x), viewed({ from, to }), selected({ from, to })
  constructor(name, view, listener) {
    this.#listener = listener;
    this.#view = view;
    this.#canvas = make("canvas", { className: "timeline", tabIndex: 0, role: "slider", ariaLabel: `${name}: time line of recordings` });
    this.#context = this.#canvas.getContext("2d");
    this.#edges = new SelectionEdges((selection) => listener.selected(selection));
    this.element = make("div", { className: "stage" });
    this.element.append(this.#canvas, ...this.#edges.elements);
    this.#gestures = new Gestures(this.#canvas, this);
    this.#canvas.addEventListener("keydown", (event) => this.#press(event));
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
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

  // What is kept: { start, end } each.
  set kept(spans) {
    this.#kept = spans;
    this.#redraw();
  }

  // Where it plays; null for live.
  set position(time) {
    this.#position = time;
    this.#redraw();
  }

  // What is to be downloaded; null for nothing. While there is a selection, a drag makes another one.
  set selection(selection) {
    this.#selection = selection;
    this.#edges.selection = selection;
    this.#gestures.selects = selection !== null;
    this.#redraw();
  }

  // A factor below 1 shows more detail.
  zoom(factor, around = this.#position ?? (this.#view.from + this.#view.to) / 2) {
    const { from, to } = this.#view;
    const place = around >= from && around <= to ? around : (from + to) / 2;
    this.view = { from: place - (place - from) * factor, to: place + (to - place) * factor };
  }

  // Shows so much time: around what plays, or up to now.
  showSpan(span) {
    const now = Date.now() * 1000;
    const middle = Math.min(this.#position ?? now, now - span * 0.48);
    this.view = { from: middle - span / 2, to: middle + span / 2 };
  }

  // Shows the newest recordings, if they are not shown yet.
  revealNow() {
    const { from, to } = this.#view;
    const now = Date.now() * 1000;
    if (now < from || now > to) this.showSpan(to - from);
  }

  // Shows a selection whole, and wide enough to take hold of it.
  showWhole({ from, to }) {
    const [width, middle] = [to - from, (from + to) / 2];
    const shown = this.#view.to - this.#view.from;
    const isGood = from > this.#view.from && to < this.#view.to && width > shown / 8;
    if (!isGood) this.view = { from: middle - 2 * width, to: middle + 2 * width };
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

  // MARK: for gestures

  timeAt(x) {
    const part = Math.min(Math.max(x / Math.max(1, this.#canvas.clientWidth), 0), 1);
    return Math.round(this.#view.from + part * (this.#view.to - this.#view.from));
  }

  // Where what plays is, in pixels; live is now.
  get handle() {
    return this.#x(this.#held ?? this.#position ?? Date.now() * 1000);
  }

  // Says where the pointer is; by default, where it was.
  point(x = this.#pointer) {
    this.#pointer = x;
    this.#listener.scrub(x === null ? null : this.timeAt(x), x ?? 0);
    this.#redraw();
  }

  hold(time) {
    this.#held = time;
    this.#redraw();
  }

  seek(time) {
    this.#listener.seek(time);
  }

  select(one, other) {
    this.#listener.selected({ from: Math.min(one, other), to: Math.max(one, other) });
  }

  // Keys that move the time line; the others are the player's.
  #press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      PageUp: () => this.pan(-0.5),
      PageDown: () => this.pan(0.5),
      Home: () => this.#segments.length > 0 && this.seek(this.#segments[0].start),
      End: () => this.#segments.length > 0 && this.seek(this.#latest()),
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  // The beginning of the newest recording, or shortly before the end of a run.
  #latest() {
    const { start, end, count = 1 } = this.#segments.at(-1);
    return count > 1 ? Math.max(start, end - narrowest) : start;
  }

  // MARK: drawing

  #x(time) {
    return (time - this.#view.from) / (this.#view.to - this.#view.from) * this.#canvas.clientWidth;
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
    const canvas = this.#canvas;
    const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
    if (width === 0) return;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    const style = getComputedStyle(canvas);
    const color = (name) => style.getPropertyValue(name);
    const context = this.#context;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    this.#drawTicks(width, height, color);
    for (const { start, end, event, growing } of this.#segments) {
      if (end < this.#view.from || start > this.#view.to) continue;
      context.fillStyle = color(event ? "--event" : growing ? "--live" : "--accent");
      this.#fill(start, end, band.top, height - band.bottom, 1);
    }
    context.fillStyle = color("--kept");
    for (const { start, end } of this.#kept) {
      if (end >= this.#view.from && start <= this.#view.to) this.#fill(start, end, height - band.bottom + 1, height - 2, 3);
    }
    if (this.#selection) {
      context.fillStyle = color("--selection");
      this.#fill(this.#selection.from, this.#selection.to, band.top - 4, height - band.bottom + 4, 2);
    }
    if (this.#pointer !== null) {
      context.fillStyle = color("--muted");
      context.fillRect(Math.round(this.#pointer) - 1, 16, 2, height - 16);
    }
    this.#drawHandle(height, color);
    this.#edges.place(this.#view, (time) => this.#x(time));
    this.#describe();
  }

  #fill(from, to, top, bottom, least) {
    const begin = Math.max(-1, this.#x(from));
    const end = Math.min(this.#canvas.clientWidth + 1, this.#x(to));
    this.#context.fillRect(begin, top, Math.max(end - begin, least), bottom - top);
  }

  // The place that plays, with a grip in its middle.
  #drawHandle(height, color) {
    const context = this.#context;
    const x = Math.round(this.handle);
    const middle = (band.top + height - band.bottom) / 2;
    context.fillStyle = color(this.#position === null && this.#held === null ? "--live" : "--ink");
    context.fillRect(x - 1, 16, 2, height - 16);
    context.strokeStyle = color("--card");
    context.lineWidth = 2;
    context.beginPath();
    context.roundRect(x - 4, middle - 9, 8, 18, 4);
    context.fill();
    context.stroke();
  }

  #drawTicks(width, height, color) {
    const { from, to } = this.#view;
    const isLong = to - from > 2 * day;
    const room = Math.max(2, width / (isLong ? 60 : 75));
    const step = (steps.find((step) => (to - from) / second / step <= room) ?? steps.at(-1)) * second;
    // Steps begin at local midnight, not at Greenwich's.
    const offset = -new Date(from / 1000).getTimezoneOffset() * minute;
    const context = this.#context;
    context.font = `11px ${getComputedStyle(this.#canvas).fontFamily}`;
    context.textBaseline = "top";
    for (let time = Math.ceil((from + offset) / step) * step - offset; time < to; time += step) {
      const x = (time - from) / (to - from) * width;
      context.fillStyle = color("--line");
      context.fillRect(Math.round(x), 16, 1, height - 16);
      context.fillStyle = color("--muted");
      const text = describeTick(new Date(time / 1000), step);
      if (x + 3 + context.measureText(text).width < width) context.fillText(text, x + 3, 2);
    }
  }

  #mark(time) {
    return this.#kept.some(({ start, end }) => start <= time && time < end) ? ", kept" : "";
  }

  #describe() {
    const canvas = this.#canvas;
    const time = this.#position ?? this.#view.to;
    canvas.setAttribute("aria-valuemin", (this.#view.from / second).toFixed(3));
    canvas.setAttribute("aria-valuemax", (this.#view.to / second).toFixed(3));
    canvas.setAttribute("aria-valuenow", (time / second).toFixed(3));
    canvas.setAttribute("aria-valuetext", this.#position === null ? "live" : clock(time) + this.#mark(time));
  }
}

// Midnight has the date.
function describeTick(date, step) {
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  return step >= day || isMidnight
    ? date.toLocaleDateString([], { day: "numeric", month: "short" })
    : date.toLocaleTimeString([], {
      hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(step < minute && { second: "2-digit" }),
    });
}
