// A camera on the page: its picture, its name and how it is.

import { make } from "/element.js";
import { MediaPlayer } from "/media.js";
import { PictureDecoder } from "/picture.js";
import { Recorder } from "/recorder.js";
import { Recordings } from "/recordings.js";
import { LiveStream } from "/stream.js";

const words = { connecting: "connecting", waiting: "waiting for a keyframe", live: "live", unavailable: "unavailable" };

export class Tile {
  #player;
  #state;
  #message;
  #figures;
  #drawn = { count: 0, since: null };
  #timer = null;
  #recordings = null;
  #recorder = null;
  // The latest of the live picture, while a recording is shown.
  #latest = { state: "connecting" };
  #isWatched = false;

  // recordings, recorder: whether there may be recordings, and a recorder to ask
  // canChange: whether the page may change something
  // onToggle: called when the picture is clicked
  constructor(name, { recordings, recorder, canChange }, onToggle) {
    this.name = name;
    this.#message = make("p", { className: "message" });
    this.#state = make("span", { className: "state" });
    this.#state.setAttribute("role", "status");
    this.#figures = make("span", { className: "figures" });
    const caption = make("div", { className: "caption" });
    caption.append(make("h2", { textContent: name }), this.#state, this.#figures);
    this.button = make("button", { className: "picture", type: "button" });
    this.button.addEventListener("click", onToggle);
    this.element = make("article", { className: "camera" });
    this.element.append(this.button, caption);
    this.element.dataset.name = name;
    const surface = this.#makePlayer(name);
    surface.ariaHidden = "true";
    this.button.append(surface, this.#message);
    if (recordings) this.#makeRecordings(name);
    if (recorder) {
      this.#recorder = new Recorder(name, canChange);
      this.element.append(this.#recorder.element);
    }
    this.isLarge = false;
    this.#show({ state: "connecting" });
  }

  // Watches the camera or stops.
  set isWatched(isWatched) {
    this.#isWatched = isWatched;
    if (isWatched && !this.isRecorded) {
      this.#player.open();
      this.#timer ??= setInterval(() => this.#showRate(), 1000);
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
    this.button.setAttribute("aria-pressed", String(isLarge));
    this.button.setAttribute("aria-label", `${this.name}: ${isLarge ? "show all cameras" : "show this camera large"}`);
  }

  // Returns where the picture appears.
  #makePlayer(name) {
    const listener = {
      status: (status) => this.#show(status),
      drawn: () => this.#noteDrawn(),
      failed: (reason) => this.#show({ state: "unavailable", reason }),
    };
    if (PictureDecoder.isSupported) {
      const canvas = make("canvas");
      const decoder = new PictureDecoder(canvas, listener);
      this.#player = new LiveStream(name, decoder, listener);
      return canvas;
    }
    const video = make("video");
    if (MediaPlayer.isSupported) {
      this.#player = new MediaPlayer(name, video, listener);
    } else {
      const reason = "this browser has neither WebCodecs nor Media Source Extensions; update it";
      this.#player = { open: () => listener.failed(reason), close() {} };
    }
    return video;
  }

  // Whether a recording is shown in place of the live picture.
  get isRecorded() {
    return this.element.classList.contains("recorded");
  }

  #makeRecordings(name) {
    const video = make("video", { className: "recording" });
    video.ariaHidden = "true";
    this.button.insertBefore(video, this.#message);
    this.#recordings = new Recordings(name, video, {
      playing: (text) => this.#showRecorded(text),
      live: () => this.#showLive(),
    });
    this.element.append(this.#recordings.element);
  }

  #showRecorded(text) {
    this.#state.textContent = text;
    if (this.isRecorded) return;
    this.element.classList.add("recorded");
    this.element.dataset.state = "recorded";
    this.#message.textContent = "";
    this.isWatched = this.#isWatched;
  }

  #showLive() {
    this.element.classList.remove("recorded");
    this.element.dataset.state = "";
    this.#show(this.#latest);
    this.isWatched = this.#isWatched;
  }

  #noteDrawn() {
    this.#drawn.count += 1;
    if (this.#message.textContent && this.element.dataset.state === "live") this.#message.textContent = "";
  }

  #show({ state, reason = "" }) {
    this.#latest = { state, reason };
    if (this.isRecorded) return;
    if (this.element.dataset.state === state && this.#message.textContent === reason) return;
    this.element.dataset.state = state;
    this.#state.textContent = words[state] ?? state;
    // The last picture stays visible behind the message, which goes with the next picture.
    if (state !== "live") this.#message.textContent = reason;
  }

  #showRate() {
    const { count, since } = this.#drawn;
    const now = performance.now();
    // The first pictures after joining may come at once.
    const isSteady = since !== null && count > 0;
    this.#figures.textContent = isSteady ? `${Math.round(count * 1000 / (now - since))} pictures/s` : "";
    this.#drawn = { count: 0, since: count > 0 ? now : null };
  }
}
