// A camera's recordings below its picture: the time line, playing, pictures while looking for a time, and downloads.

import { make } from "/element.js";
import { Playback } from "/playback.js";
import { Timeline, clock, second } from "/timeline.js";

const day = 86400 * second;
const hour = 3600 * second;
// Milliseconds between looks at what has been recorded meanwhile, and until a view that moves is looked up.
const interval = 5000;
const settling = 200;
// The narrowest time that is shown at first.
const narrow = 60 * second;
const speeds = [1, 2, 4, 8];

export class Recordings {
  #name;
  #listener;
  #timeline;
  #playback;
  #segments = [];
  #selection = { from: null, to: null };
  #timers = { refresh: null, settle: null };
  #hasView = false;
  // The newest end of a recording so far, and the view that nobody has moved since.
  #end = 0;
  #ownView = null;
  #loading = false;
  #parts = {};
  #preview;

  // video: where recordings are played
  // listener: playing(text), live()
  constructor(name, video, listener) {
    this.#name = name;
    this.#listener = listener;
    const now = Date.now() * 1000;
    this.#timeline = new Timeline(name, { from: now - hour, to: now }, {
      seek: (time) => this.play(time),
      scrub: (time, x) => this.#preview.show(time, x, this.#segmentAt(time)),
      viewed: () => this.#settle(),
      toggle: () => this.#toggle(),
    });
    this.#playback = new Playback(name, video, {
      segments: () => this.#segments,
      moved: (time) => this.#moved(time),
      noted: (reason) => this.#say(reason),
      ended: () => this.live(),
      failed: (reason) => this.#fail(reason),
    });
    this.#preview = new Preview(name);
    this.element = make("section", { className: "recordings", ariaLabel: `${name}: recordings` });
    const stage = make("div", { className: "stage" });
    stage.append(this.#timeline.element, this.#preview.element);
    this.element.append(stage, this.#makeControls(), this.#makeSelection());
  }

  open() {
    this.#refresh();
    this.#timers.refresh ??= setInterval(() => document.hidden || this.#refresh(), interval);
  }

  close() {
    clearInterval(this.#timers.refresh);
    clearTimeout(this.#timers.settle);
    this.#timers = { refresh: null, settle: null };
    this.live();
  }

  play(time) {
    const { first, last } = this.#extent();
    if (first === null) return this.#say("nothing was recorded in this time");
    const place = Math.round(Math.min(Math.max(time, first), Math.max(first, last - second)));
    this.#say("");
    this.#timeline.position = place;
    this.#timeline.reveal(place);
    this.#parts.pause.textContent = "Pause";
    this.#listener.playing(`recorded ${clock(place)}`);
    this.#playback.play(place);
  }

  // Shows the live picture again.
  live() {
    const wasPlaying = this.#playback.isOpen;
    this.#playback.stop();
    this.#timeline.position = null;
    this.#showFile(null);
    this.#parts.pause.textContent = "Play";
    if (wasPlaying) this.#listener.live();
  }

  #extent() {
    return { first: this.#segments[0]?.start ?? null, last: this.#segments.at(-1)?.end ?? null };
  }

  #segmentAt(time) {
    return time === null ? null : this.#segments.findLast(({ start, end }) => start <= time && time < end) ?? null;
  }

  #toggle() {
    if (!this.#playback.isOpen) {
      const { last } = this.#extent();
      return this.play((last ?? 0) - 10 * second);
    }
    this.#playback.toggle();
    this.#parts.pause.textContent = this.#playback.isPaused ? "Play" : "Pause";
  }

  #moved(time) {
    this.#timeline.position = time;
    this.#listener.playing(`recorded ${clock(time)}`);
    this.#showFile(this.#segmentAt(time));
  }

  // Offers the file that plays.
  #showFile(segment) {
    const { file } = this.#parts;
    file.hidden = !segment;
    if (!segment) return;
    file.href = `/recordings/${encodeURIComponent(this.#name)}/${segment.id}`;
    file.textContent = `${segment.name}, ${size(segment.bytes)}`;
  }

  #fail(reason) {
    this.live();
    this.#say(reason);
  }

  #say(text) {
    this.#parts.message.textContent = text;
  }

  #settle() {
    if (this.#timers.refresh === null) return;
    clearTimeout(this.#timers.settle);
    this.#timers.settle = setTimeout(() => this.#refresh(), settling);
  }

  // Asks for what is in view, and as much before and after it; while something plays, also for what comes next.
  async #refresh() {
    if (this.#loading) return this.#settle();
    this.#loading = true;
    try {
      await this.#load();
    } catch (error) {
      this.#say(`no list of recordings: ${error.message}`);
    }
    this.#loading = false;
  }

  async #load() {
    const now = Date.now() * 1000;
    let { from, to } = this.#hasView ? this.#timeline.view : { from: now - day, to: now + hour };
    const width = to - from;
    [from, to] = [Math.max(0, Math.round(from - width)), Math.round(to + width)];
    if (this.#playback.time !== null) [from, to] = [Math.min(from, this.#playback.time - hour), Math.max(to, now)];
    const response = await fetch(`/recordings/${encodeURIComponent(this.#name)}.json?from=${Math.round(from)}&to=${to}`);
    if (!response.ok) throw new Error((await response.text()).trim());
    const list = await response.json();
    this.#segments = list.segments;
    this.#timeline.segments = list.segments;
    if (!this.#hasView) this.#showFirst(list);
    else this.#follow();
    this.#end = list.segments.at(-1)?.end ?? this.#end;
    this.#showProblems(list);
    if (!list.complete) this.#settle();
  }

  #showFirst({ segments, first, now, complete }) {
    if (segments.length === 0) return this.#say(complete && first === null ? "no recordings yet" : "");
    this.#hasView = true;
    const start = segments[0].start;
    const end = Math.max(segments.at(-1).end, Math.min(now, segments.at(-1).end + narrow));
    const width = Math.max(end - start, narrow);
    this.#show({ from: end - width * 1.02, to: end + width * 0.02 });
    this.#say("");
  }

  #show(view) {
    this.#timeline.view = view;
    this.#ownView = this.#timeline.view;
  }

  // Keeps the end of what is being recorded in view, if it was. At first the view grows to an hour, then it moves.
  #follow() {
    const { from, to } = this.#timeline.view;
    const end = this.#segments.at(-1)?.end ?? 0;
    const width = to - from;
    if (this.#end < from || this.#end > to || end < to - 0.01 * width) return;
    const isUntouched = from === this.#ownView?.from && to === this.#ownView.to;
    const begin = isUntouched && end - from < hour ? from : from + end - to + 0.02 * width;
    // What plays stays in view, too.
    if (this.#playback.time !== null && this.#playback.time < begin) return;
    const view = { from: begin, to: end + 0.02 * Math.max(width, end - begin) };
    if (isUntouched) this.#show(view);
    else this.#timeline.view = view;
  }

  #showProblems({ problems }) {
    const { problem } = this.#parts;
    problem.textContent = problems.length === 0 ? "" : `${problems[0].name}: ${problems[0].reason}`
      + (problems.length > 1 ? ` (and ${problems.length - 1} more)` : "");
  }

  #makeControls() {
    const controls = make("div", { className: "controls" });
    const button = (text, label, action) => {
      const element = make("button", { type: "button", textContent: text, ariaLabel: label, title: label });
      element.addEventListener("click", action);
      controls.append(element);
      return element;
    };
    this.#parts.pause = button("Play", "Play or pause", () => this.#toggle());
    button("Live", "Back to the live picture", () => this.live());
    const speed = make("select", { ariaLabel: "Speed" });
    for (const value of speeds) speed.append(make("option", { value: String(value), textContent: `${value}×` }));
    speed.addEventListener("change", () => (this.#playback.speed = Number(speed.value)));
    controls.append(speed);
    button("−", "Show a longer time", () => this.#timeline.zoom(2));
    button("+", "Show a shorter time", () => this.#timeline.zoom(0.5));
    button("‹", "Earlier", () => this.#timeline.pan(-0.5));
    button("›", "Later", () => this.#timeline.pan(0.5));
    return controls;
  }

  #makeSelection() {
    const row = make("div", { className: "controls" });
    const button = (text, label, action) => {
      const element = make("button", { type: "button", textContent: text, title: label });
      element.addEventListener("click", action);
      row.append(element);
    };
    button("From here", "A download begins where it plays", () => this.#select("from"));
    button("To here", "A download ends where it plays", () => this.#select("to"));
    this.#parts.download = make("a", { className: "download", hidden: true });
    this.#parts.file = make("a", { className: "note file", hidden: true, download: "" });
    this.#parts.message = make("span", { className: "note" });
    this.#parts.message.setAttribute("role", "status");
    this.#parts.problem = make("span", { className: "note problem" });
    row.append(this.#parts.download, this.#parts.file, this.#parts.message, this.#parts.problem);
    return row;
  }

  #select(edge) {
    const time = this.#playback.time;
    if (time === null) return this.#say("play a recording first; then choose where a download begins and ends");
    this.#selection[edge] = time;
    const { from, to } = this.#selection;
    const isWhole = from !== null && to !== null && from < to;
    this.#timeline.selection = isWhole ? { from, to } : { from: from ?? to, to: to ?? from };
    this.#say(isWhole ? "" : edge === "from" ? "now choose where it ends" : "now choose where it begins, before the end");
    const { download } = this.#parts;
    download.hidden = !isWhole;
    if (!isWhole) return;
    download.href = `/recordings/${encodeURIComponent(this.#name)}.mp4?from=${from}&to=${to}`;
    download.download = "";
    download.textContent = `Download ${length(to - from)} as MP4, about ${size(this.#bytes(from, to))}`;
  }

  // The bytes that were recorded in a time, more or less.
  #bytes(from, to) {
    return this.#segments.reduce((sum, { start, end, bytes }) => {
      const common = Math.min(end, to) - Math.max(start, from);
      return sum + (common > 0 ? bytes * common / Math.max(1, end - start) : 0);
    }, 0);
  }
}

// The keyframe at a time, above the time line.
class Preview {
  #name;
  #canvas = make("canvas");
  #text = make("span");
  #wanted = null;
  #isBusy = false;

  constructor(name) {
    this.#name = name;
    this.element = make("div", { className: "preview", hidden: true });
    this.element.ariaHidden = "true";
    this.element.append(this.#canvas, this.#text);
  }

  // x: where, in pixels of the time line.
  show(time, x, segment) {
    this.element.hidden = time === null;
    this.#wanted = segment && { segment, at: Math.max(0, time - segment.start) };
    if (time === null) return;
    this.#text.textContent = `${clock(time)}${segment ? `, file of ${size(segment.bytes)}` : ": not recorded"}`;
    this.#canvas.hidden = !segment || !("VideoDecoder" in window);
    const half = this.element.offsetWidth / 2;
    const width = this.element.parentElement.clientWidth;
    this.element.style.left = `${Math.min(Math.max(x, half), Math.max(half, width - half)) - half}px`;
    this.#fetch();
  }

  // One picture at a time: the one that is wanted when the last one has come.
  async #fetch() {
    if (this.#isBusy || !("VideoDecoder" in window)) return;
    this.#isBusy = true;
    while (this.#wanted) {
      const { segment, at } = this.#wanted;
      this.#wanted = null;
      try {
        await this.#load(`/recordings/${encodeURIComponent(this.#name)}/${segment.id}.keyframe?at=${at}`);
      } catch {
        // The time is shown without a picture.
        this.#canvas.hidden = true;
      }
    }
    this.#isBusy = false;
  }

  async #load(path) {
    const response = await fetch(path);
    if (!response.ok) throw new Error(await response.text());
    const [width, height] = response.headers.get("Camweb-Size").split("x").map(Number);
    const data = await response.arrayBuffer();
    const canvas = this.#canvas;
    let problem = null;
    const decoder = new VideoDecoder({
      output: (frame) => {
        [canvas.width, canvas.height] = [frame.displayWidth, frame.displayHeight];
        canvas.getContext("2d", { alpha: false }).drawImage(frame, 0, 0);
        frame.close();
      },
      error: (error) => (problem = error),
    });
    decoder.configure({
      codec: response.headers.get("Camweb-Codec"), codedWidth: width, codedHeight: height, optimizeForLatency: true,
    });
    decoder.decode(new EncodedVideoChunk({ type: "key", timestamp: 0, data }));
    await decoder.flush();
    decoder.close();
    if (problem) throw problem;
  }
}

function length(time) {
  const seconds = Math.round(time / second);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
