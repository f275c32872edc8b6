// A camera's recordings below its picture: the time line, playing, events and exports.

import { makeButton, make } from "./element.js";
import { EventList } from "./events.js";
import { ExportPanel } from "./export.js";
import { Kept } from "./kept.js";
import { Preview } from "./keyframe.js";
import { Library } from "./library.js";
import { Notes } from "./notes.js";
import { Playback } from "./playback.js";
import { PlayerBar } from "./player.js";
import { Timeline } from "./timeline.js";
import { clock, day, hour, minute, second, shortClock } from "./time.js";

const nothing = { from: 0, to: 0, segments: [] };
// Milliseconds between looks at what has been recorded meanwhile, and until a view that moves is looked up.
const interval = 5000;
const settling = 200;
// Milliseconds until recordings that are still being read are looked up again.
const patience = 1000;
// The narrowest time that is shown at first.
const narrow = 60 * second;
// What is so near to the time that was asked for needs no explanation.
const near = 2 * second;

export class Recordings {
  #library;
  #listener;
  #timeline;
  #playback;
  #bar;
  #export;
  #events;
  // What is kept; null if there is no recorder to ask.
  #kept = null;
  // What the time line shows: recordings, or runs of them if there are many.
  #shown = [];
  // The latest list that it comes from.
  #list = nothing;
  // The recordings of a time in which something plays, or that is in view, and those around the pointer.
  #played = nothing;
  #hovered = nothing;
  #isLooking = false;
  // Counts what is played, because the recordings around it may come late; and what began to play of that.
  #turn = 0;
  #begun = 0;
  // Where it plays, or will once its recording has come; null for live.
  #position = null;
  #timers = { refresh: null, settle: null };
  #hasView = false;
  // The newest end of a recording so far, and the view that nobody has moved since.
  #end = 0;
  #ownView = null;
  #loading = false;
  #parts = {};
  #preview;
  #notes;

  // video: where recordings are played
  // recorder, canChange: whether there is a recorder to ask, and whether the page may change something
  // listener: playing(text, time), live()
  constructor(name, video, { recorder, canChange }, listener) {
    this.#library = new Library(name);
    this.#notes = new Notes(this.#library, recorder && canChange ? (segment, isKept) => this.#kept.mark(segment, segment, isKept) : null);
    this.#listener = listener;
    const now = Date.now() * 1000;
    this.#timeline = new Timeline(name, { from: now - hour, to: now }, {
      seek: (time) => this.play(time),
      scrub: (time, x) => this.#scrub(time, x),
      viewed: (view) => this.#settle(view),
      selected: (selection) => this.#export.select(selection),
    });
    this.#playback = new Playback(this.#library, video, {
      segments: () => this.#played.segments,
      moved: (time) => this.#moved(time),
      noted: (reason) => this.#notes.say(reason),
      ended: () => this.live(),
      failed: (reason) => this.#fail(reason),
    });
    this.#preview = new Preview(this.#library);
    this.#timeline.element.append(this.#preview.element);
    if (recorder) {
      this.#kept = new Kept(name, canChange, {
        changed: (count) => this.#showKept(count),
        play: (time) => this.play(time),
        noted: (text) => this.#notes.say(text),
      });
    }
    this.#makeParts(name, recorder && canChange);
  }

  #makeParts(name, canKeep) {
    this.#bar = new PlayerBar({
      toggle: () => this.toggle(),
      skip: (seconds) => this.#skip(seconds),
      neighbor: (isLater) => this.#playNeighbor(isLater),
      live: () => this.live(),
      speed: (speed) => (this.#playback.speed = speed),
      span: (span) => this.#timeline.showSpan(span),
      zoom: (factor) => this.#timeline.zoom(factor),
      pan: (part) => this.#timeline.pan(part),
      goTo: (time) => this.play(time),
    });
    this.#export = new ExportPanel(name, this.#library, {
      opened: (selection) => this.#timeline.showWhole(selection),
      changed: (selection) => this.#noteSelection(selection),
      position: () => this.#position,
      bytes: (from, to) => this.#bytes(from, to),
      isKept: (from, to) => this.#isKept(from, to),
      keep: canKeep ? (selection, isKept) => this.#keepSpan(selection, isKept) : null,
    });
    this.#events = new EventList(name, this.#library, (time) => this.play(time));
    const parts = this.#parts;
    parts.events = makeButton("Events", () => this.#toggleEvents(), "Show or hide the events");
    parts.events.hidden = true;
    parts.kept = makeButton("Kept", () => this.#toggleKept(), "Show or hide the recordings that are kept");
    parts.kept.hidden = true;
    parts.export = makeButton("Export", () => this.#export.isOpen ? this.#export.close() : this.#export.open(), "Download a span of time");
    this.#bar.actions.append(parts.events, parts.kept, parts.export);
    this.element = make("section", { className: "recordings", ariaLabel: `${name}: recordings` });
    this.element.append(this.#timeline.element, this.#bar.element, this.#export.element, this.#events.element);
    if (this.#kept) this.element.append(this.#kept.element);
    this.element.append(this.#notes.element);
    this.#noteSelection(null);
    this.#showPosition(null);
  }

  // Where the camera's other buttons go.
  get actions() {
    return this.#bar.actions;
  }

  open() {
    this.#refresh();
    this.#timers.refresh ??= setInterval(() => document.hidden || this.#refresh(), interval);
  }

  close() {
    clearInterval(this.#timers.refresh);
    clearTimeout(this.#timers.settle);
    this.#timers = { refresh: null, settle: null };
    this.#export.close();
    this.live();
  }

  // Plays from a time, or from the recording that is next to it; live if that is still to come.
  async play(time) {
    if (time >= Date.now() * 1000) return this.live();
    const turn = (this.#turn += 1);
    const isPaused = this.#playback.isOpen && this.#playback.isPaused;
    this.#showPosition(time);
    this.#timeline.reveal(time);
    this.#listener.playing(`recorded ${shortClock(time)}`, time);
    if (!covers(this.#played, time)) {
      try {
        if (!await this.#find(time, turn)) return;
      } catch (error) {
        return turn === this.#turn && this.#fail(`no list of recordings: ${error.message}`);
      }
    }
    this.#notes.say("");
    const place = this.#nearest(time);
    if (place === null) return this.#fail("nothing was recorded in this time");
    if (Math.abs(place - time) > near) {
      this.#notes.say(`nothing was recorded at ${clock(time)}; this is the ${place > time ? "next" : "last"} recording`);
    }
    this.#showPosition(place);
    this.#timeline.reveal(place);
    this.#begun = turn;
    this.#playback.play(place, isPaused);
  }

  // Looks up what was recorded around a time, until camweb has read that; returns whether that time is still wanted.
  async #find(time, turn) {
    for (;;) {
      const found = await this.#library.around(time);
      if (turn !== this.#turn) return false;
      this.#played = found;
      this.#markKept();
      if (found.complete || this.#segmentAt(time)) return true;
      this.#notes.say("the recordings of this time are still being read");
      await new Promise((done) => setTimeout(done, patience));
    }
  }

  // A time at which something was recorded: this one, else the next, else the last.
  #nearest(time) {
    const { segments } = this.#played;
    if (segments.some(({ start, end }) => start <= time && time < end)) return time;
    const next = segments.find(({ start }) => start > time);
    if (next) return next.start;
    const last = segments.at(-1);
    return last ? Math.max(last.start, last.end - second) : null;
  }

  // Shows the live picture again.
  live() {
    this.#turn += 1;
    const wasPlaying = this.#position !== null;
    this.#playback.stop();
    this.#notes.showFile(null);
    this.#showPosition(null);
    if (!wasPlaying) return;
    this.#timeline.revealNow();
    this.#listener.live();
  }

  #showPosition(time) {
    this.#position = time;
    this.#timeline.position = time;
    this.#bar.showPlaying(time, this.#playback.isOpen && this.#playback.isPaused);
    this.#events.mark(time);
  }

  #segmentAt(time) {
    const { segments } = covers(this.#played, time) ? this.#played : this.#hovered;
    return time === null ? null : segments.findLast(({ start, end }) => start <= time && time < end) ?? null;
  }

  #scrub(time, x) {
    const isKnown = time === null || covers(this.#played, time) || covers(this.#hovered, time);
    this.#preview.show(time, x, this.#segmentAt(time), isKnown || !this.#shown.some(({ start, end }) => start <= time && time < end));
    if (!isKnown) this.#look(time);
  }

  // Looks up what is around the pointer, one time after another.
  async #look(time) {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const [from, to] = [time - 10 * minute, time + 10 * minute];
      this.#hovered = { from, to, segments: (await this.#library.list(from, to)).segments };
      this.#timeline.point();
    } catch {
      // The next movement looks again.
    }
    this.#isLooking = false;
  }

  // Keys as in other players; returns whether the key is one of them.
  press(key, isShifted) {
    const step = isShifted ? 1 : 10;
    const actions = {
      " ": () => this.toggle(), k: () => this.toggle(), j: () => this.#skip(-10), l: () => this.#skip(10),
      ArrowLeft: () => this.#skip(-step), ArrowRight: () => this.#skip(step),
      ",": () => this.#step(-1), ".": () => this.#step(1),
    };
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]();
    return true;
  }

  toggle() {
    if (this.#position === null) return this.#skip(-10);
    this.#playback.toggle();
    this.#showPosition(this.#position);
  }

  // From the live picture, back only.
  #skip(seconds) {
    if (this.#position === null && seconds > 0) return;
    this.play((this.#position ?? Date.now() * 1000) + seconds * second);
  }

  #step(direction) {
    if (this.#position === null) return;
    const missing = this.#playback.step(direction);
    if (missing !== null) this.play(missing);
    this.#bar.showPlaying(this.#position, true);
  }

  async #playNeighbor(isLater) {
    const position = this.#position ?? Date.now() * 1000;
    try {
      const time = await this.#library.neighbor(position, isLater);
      if (time !== null) return this.play(time);
      if (isLater) this.live();
      else this.#notes.say("nothing was recorded before");
    } catch (error) {
      this.#notes.say(`no list of recordings: ${error.message}`);
    }
  }

  #moved(time) {
    // What played before goes on until the next begins.
    if (this.#begun !== this.#turn) return;
    this.#showPosition(time);
    this.#listener.playing(`recorded ${shortClock(time)}`, time);
    this.#notes.showFile(this.#segmentAt(time));
  }

  #fail(reason) {
    this.live();
    this.#notes.say(reason);
  }

  #noteSelection(selection) {
    this.#timeline.selection = selection;
    this.#parts.export.setAttribute("aria-expanded", String(selection !== null));
  }

  #toggleEvents() {
    this.#events.element.hidden = !this.#events.element.hidden;
    this.#parts.events.setAttribute("aria-expanded", String(!this.#events.element.hidden));
  }

  // MARK: kept recordings

  #toggleKept() {
    this.#kept.element.hidden = !this.#kept.element.hidden;
    this.#kept.element.scrollIntoView({ block: "nearest" });
    this.#parts.kept.setAttribute("aria-expanded", String(!this.#kept.element.hidden));
  }

  // Updates what is shown of kept recordings. An empty list is hidden.
  #showKept(count) {
    const { kept } = this.#parts;
    kept.hidden = count === 0;
    if (count === 0 && !this.#kept.element.hidden) this.#toggleKept();
    this.#markKept();
    this.#timeline.kept = this.#kept.spans(this.#list);
    this.#events.show(this.#list, this.#timeline.view);
    this.#events.mark(this.#position);
    this.#export.refresh();
    if (this.#position !== null) this.#notes.showFile(this.#segmentAt(this.#position));
  }

  #markKept() {
    for (const segment of [...this.#list.segments, ...this.#played.segments]) segment.kept = this.#kept?.has(segment) ?? false;
  }

  // Whether everything that was recorded in a time is kept.
  #isKept(from, to) {
    const parts = this.#list.runs ? [] : this.#list.segments.filter(({ start, end }) => end > from && start < to);
    return parts.length > 0 && parts.every(({ kept }) => kept);
  }

  // Keeps or releases what was recorded in a time, whole recordings each.
  async #keepSpan({ from, to }, isKept) {
    try {
      const [first, last] = await this.#library.ends(from, to);
      if (!first) return this.#notes.say("nothing was recorded in this time");
      await this.#kept.mark(first, last, isKept);
    } catch (error) {
      this.#notes.say(`no list of recordings: ${error.message}`);
    }
  }

  #settle(view = this.#timeline.view) {
    this.#bar.showView(view);
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
      this.#notes.say(`no list of recordings: ${error.message}`);
    }
    this.#loading = false;
  }

  async #load() {
    const now = Date.now() * 1000;
    let { from, to } = this.#hasView ? this.#timeline.view : { from: now - day, to: now + hour };
    const width = to - from;
    [from, to] = [Math.max(0, Math.round(from - width)), Math.round(to + width)];
    let list = await this.#library.list(from, to);
    // The newest recordings may be old.
    if (!this.#hasView && list.complete && list.last !== undefined && !list.runs && list.segments.length === 0) {
      [from, to] = [list.last - day, list.last + second];
      list = await this.#library.list(from, to);
    }
    this.#list = list;
    this.#markKept();
    this.#kept?.refresh();
    this.#shown = list.runs ?? list.segments;
    if (this.#kept) this.#timeline.kept = this.#kept.spans(list);
    this.#timeline.segments = this.#shown;
    if (!this.#hasView) this.#showFirst(list);
    else this.#follow();
    this.#end = this.#shown.at(-1)?.end ?? this.#end;
    this.#showEvents(list);
    this.#export.refresh();
    this.#notes.showProblems(list.problems);
    this.#notes.showProgress(list.progress);
    const { time } = this.#playback;
    const isPlayed = time !== null && !list.runs && from <= time && list.segments.some(({ start }) => start > time);
    if (time !== null && !isPlayed) this.#played = await this.#library.around(time);
    else if (list.runs || !list.complete) [this.#played, this.#hovered] = [nothing, nothing];
    else this.#played = { from, to, segments: list.segments };
    this.#markKept();
    if (!list.complete) this.#settle();
  }

  #showFirst({ first, now, complete }) {
    const shown = this.#shown;
    if (shown.length === 0) return this.#notes.say(complete && first === undefined ? "no recordings yet" : "");
    this.#hasView = true;
    // An address may have chosen a time already.
    if (this.#position !== null) return this.#settle();
    const start = shown[0].start;
    const end = Math.max(shown.at(-1).end, Math.min(now, shown.at(-1).end + narrow));
    const width = Math.max(end - start, narrow);
    this.#show({ from: end - width * 1.02, to: end + width * 0.02 });
    this.#notes.say("");
  }

  #show(view) {
    this.#timeline.view = view;
    this.#ownView = this.#timeline.view;
  }

  // Keeps the end of what is being recorded in view, if it was. At first the view grows to an hour, then it moves.
  #follow() {
    const { from, to } = this.#timeline.view;
    const end = this.#shown.at(-1)?.end ?? 0;
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

  // A camera that records events shows them, until people hide them.
  #showEvents(list) {
    const { events } = this.#parts;
    if (events.hidden && this.#shown.some(({ event }) => event)) {
      events.hidden = false;
      this.#toggleEvents();
    }
    this.#events.show(list, this.#timeline.view);
    this.#events.mark(this.#position);
  }

  // The bytes that were recorded in a time, more or less.
  #bytes(from, to) {
    return this.#shown.reduce((sum, { start, end, bytes }) => {
      const common = Math.min(end, to) - Math.max(start, from);
      return sum + (common > 0 ? bytes * common / Math.max(1, end - start) : 0);
    }, 0);
  }
}

function covers({ from, to }, time) {
  return from <= time && time < to;
}
