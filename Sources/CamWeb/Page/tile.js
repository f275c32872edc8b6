// A camera on the page: its picture, its name and how it is; if it is large, also its recordings and its recorder.

import { make, makeButton, makeIconButton } from "./element.js";
import { Recorder } from "./recorder.js";
import { Recordings } from "./recordings.js";
import { Snapshot } from "./snapshot.js";
import { LiveState } from "./state.js";
import { LiveStream } from "./stream.js";

// Milliseconds without a movement, after which a full screen shows the picture alone.
const rest = 3000;

export class Tile {
  #listener;
  #player;
  #surface = null;
  #way = "";
  #state;
  #message;
  #figures;
  #drawn = { count: 0, since: null };
  #timer = null;
  #rest = null;
  #recordings = null;
  #recorder = null;
  #live;
  #isWatched = false;
  #hasSmall;

  // recordings, recorder: whether there may be recordings, and a recorder to ask
  // small: whether there is a stream of smaller pictures
  // canChange, seesDetails: whether the page may change something, and say causes and figures
  // listener: opened(), closed(), filled(), moved(time or null)
  constructor(name, { recordings, recorder, small, canChange, seesDetails }, listener) {
    this.name = name;
    this.#hasSmall = small;
    this.#live = new LiveState(seesDetails);
    this.#listener = listener;
    this.#message = make("p", { className: "message" });
    this.#state = make("span", { className: "state", role: "status" });
    this.#figures = make("p", { className: "figures" });
    const caption = make("div", { className: "caption" });
    caption.append(makeButton("‹ All", () => listener.closed(), "Show all cameras (Esc)"),
      make("h2", { textContent: name }), this.#state);
    this.button = make("button", { className: "picture", type: "button" });
    this.button.addEventListener("click", () => this.#click());
    this.button.addEventListener("dblclick", () => this.isLarge && listener.filled());
    this.element = make("article", { className: "camera" });
    this.element.append(this.button, caption);
    this.element.dataset.name = name;
    this.button.append(this.#message);
    this.#player = new LiveStream(name, {
      status: (status) => this.#take(status),
      drawn: () => this.#noteDrawn(),
      shows: (surface, way) => this.#place(surface, way),
    });
    if (recordings) this.#makeRecordings(name, recorder, canChange);
    this.#makeActions(recorder ? new Snapshot(name) : null, seesDetails, canChange);
    for (const kind of ["pointermove", "pointerdown", "keydown"]) this.element.addEventListener(kind, () => this.#wake());
    this.isLarge = false;
    this.#live.open(performance.now());
    this.#show();
  }

  // Whether it is one of several cameras, and smaller pictures suffice.
  set isInGrid(isInGrid) {
    this.#player.isSmall = isInGrid && this.#hasSmall;
  }

  // Watches the camera or stops.
  set isWatched(isWatched) {
    this.#isWatched = isWatched;
    if (isWatched && !this.isRecorded) {
      if (this.#timer === null) {
        this.#live.open(performance.now());
        this.#timer = setInterval(() => this.#look(), 1000);
        this.#show();
      }
      this.#player.open();
    } else {
      this.#player.close();
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  get isLarge() {
    return this.element.classList.contains("large");
  }

  set isLarge(isLarge) {
    this.element.classList.toggle("large", isLarge);
    if (isLarge) this.#recordings?.open();
    else this.#recordings?.close();
    if (isLarge) this.#recorder?.open();
    else this.#recorder?.close();
    this.button.setAttribute("aria-label", `${this.name}: ${isLarge ? "play or pause" : "show this camera large"}`);
  }

  #click() {
    if (!this.isLarge) this.#listener.opened();
    else if (this.isRecorded) this.#recordings.toggle();
  }

  // Plays a recording from a time, or the live picture for null.
  show(time) {
    if (time !== null && this.#recordings) this.#recordings.play(time);
    else this.#recordings?.live();
  }

  // A key of the player; returns whether it is one.
  press(key, isShifted) {
    return this.#recordings?.press(key, isShifted) ?? false;
  }

  // In a full screen, what lies over the picture disappears until something moves.
  #wake() {
    clearTimeout(this.#rest);
    this.element.classList.remove("idle");
    this.#rest = setTimeout(() => this.element.classList.add("idle"), rest);
  }

  // way: the name of the way to play, if the usual one failed
  #place(surface, way) {
    this.#surface?.remove();
    this.#surface = surface;
    surface.ariaHidden = "true";
    this.button.prepend(surface);
    this.#way = way;
  }

  // Whether a recording is shown in place of the live picture.
  get isRecorded() {
    return this.element.classList.contains("recorded");
  }

  #makeRecordings(name, recorder, canChange) {
    const video = make("video", { className: "recording" });
    video.ariaHidden = "true";
    this.button.insertBefore(video, this.#message);
    this.#recordings = new Recordings(name, video, { recorder, canChange }, {
      playing: (text, time) => this.#showRecorded(text, time),
      live: () => this.#showLive(),
    });
    this.element.append(this.#recordings.element);
  }

  // The buttons that every camera has.
  #makeActions(snapshot, seesDetails, canChange) {
    const actions = this.#recordings?.actions ?? make("div", { className: "controls bar" });
    if (!this.#recordings) this.element.append(actions);
    if (snapshot) {
      actions.append(snapshot.button);
      this.element.append(snapshot.note);
    }
    if (document.fullscreenEnabled) actions.append(makeIconButton("full", () => this.#listener.filled(), "Full screen (F)"));
    if (seesDetails) this.#makeDetails(snapshot, canChange);
  }

  // What people who look after the camera want to know.
  #makeDetails(snapshot, canChange) {
    const details = make("details", { className: "details" });
    details.append(make("summary", { textContent: "Details" }), this.#figures);
    if (snapshot) {
      this.#recorder = new Recorder(this.name, canChange, snapshot);
      details.append(this.#recorder.element);
    }
    this.element.append(details);
  }

  #showRecorded(text, time) {
    this.#state.textContent = text;
    this.#listener.moved(time);
    if (this.isRecorded) return;
    this.element.classList.add("recorded");
    this.element.dataset.state = "recorded";
    // The time changes each second; the time line says it to those who ask.
    this.#state.ariaLive = "off";
    this.#message.textContent = "";
    this.isWatched = this.#isWatched;
  }

  #showLive() {
    this.element.classList.remove("recorded");
    this.element.dataset.state = "";
    this.#show();
    this.isWatched = this.#isWatched;
    this.#listener.moved(null);
  }

  #noteDrawn() {
    this.#drawn.count += 1;
    this.#live.noteShown(performance.now());
    if (this.element.dataset.state !== "live") this.#show();
  }

  #take(status) {
    this.#live.take(status, performance.now());
    this.#show();
  }

  #show() {
    if (this.isRecorded) return;
    const { state, text, reason } = this.#live.describe(performance.now());
    // A screen reader says that pictures stay away, not each second since when.
    this.#state.ariaLive = state === "silent" && this.element.dataset.state === state ? "off" : "polite";
    this.element.dataset.state = state;
    if (this.#state.textContent !== text) this.#state.textContent = text;
    // The last picture stays visible behind the message.
    const message = reason || (["connecting", "waiting", "live"].includes(state) ? "" : text);
    if (this.#message.textContent !== message) this.#message.textContent = message;
  }

  // Once a second while the camera is watched.
  #look() {
    this.#show();
    const { count, since } = this.#drawn;
    const now = performance.now();
    // The first pictures after joining may come at once.
    const isSteady = since !== null && count > 0;
    const rate = isSteady ? `${Math.round(count * 1000 / (now - since))} pictures/s` : "";
    this.#figures.textContent = rate && this.#way ? `${rate}, ${this.#way}` : rate;
    this.#drawn = { count: 0, since: count > 0 ? now : null };
  }
}
