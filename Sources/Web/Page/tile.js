// A camera on the page: its picture, its name and how it is.

import { PictureDecoder } from "/picture.js";
import { LiveStream } from "/stream.js";

const words = { connecting: "connecting", waiting: "waiting for a keyframe", live: "live", unavailable: "unavailable" };

export class Tile {
  #stream;
  #decoder = null;
  #state;
  #message;
  #figures;
  #drawn = { count: 0, since: null };
  #timer = null;

  // onToggle: called when the picture is clicked.
  constructor(name, onToggle) {
    const canvas = make("canvas", { ariaHidden: "true" });
    this.#message = make("p", { className: "message" });
    this.button = make("button", { className: "picture", type: "button" });
    this.button.append(canvas, this.#message);
    this.button.addEventListener("click", onToggle);
    const title = make("h2", { textContent: name });
    this.#state = make("span", { className: "state" });
    this.#state.setAttribute("role", "status");
    this.#figures = make("span", { className: "figures" });
    const caption = make("div", { className: "caption" });
    caption.append(title, this.#state, this.#figures);
    this.element = make("article", { className: "camera" });
    this.element.append(this.button, caption);
    this.element.dataset.name = name;
    this.name = name;
    this.isLarge = false;
    if (PictureDecoder.isSupported) {
      this.#decoder = new PictureDecoder(canvas, {
        drawn: () => this.#noteDrawn(),
        failed: (reason) => this.#show("unavailable", reason),
      });
    }
    this.#stream = new LiveStream(name, {
      format: (format) => this.#decoder.configure(format),
      status: ({ state, reason }) => this.#show(state, reason),
      picture: (picture) => this.#decoder.decode(picture),
    });
    this.#show("connecting");
  }

  // Watches the camera or stops.
  set isWatched(isWatched) {
    if (isWatched && !this.#decoder) {
      this.#show("unavailable", "this browser has no WebCodecs here; open http://127.0.0.1 or localhost, or update it");
    } else if (isWatched) {
      this.#stream.open();
      this.#timer ??= setInterval(() => this.#showRate(), 1000);
    } else {
      this.#stream.close();
      this.#decoder?.reset();
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  get isLarge() {
    return this.element.classList.contains("large");
  }

  set isLarge(isLarge) {
    this.element.classList.toggle("large", isLarge);
    this.button.setAttribute("aria-pressed", String(isLarge));
    this.button.setAttribute("aria-label", `${this.name}: ${isLarge ? "show all cameras" : "show this camera large"}`);
  }

  #noteDrawn() {
    this.#drawn.count += 1;
    this.#drawn.since ??= performance.now();
    if (this.#message.textContent) this.#message.textContent = "";
  }

  #show(state, reason = "") {
    this.element.dataset.state = state;
    this.#state.textContent = words[state] ?? state;
    if (state === "waiting") this.#decoder?.reset();
    // The last picture stays visible behind the message.
    if (state !== "live") this.#message.textContent = reason;
  }

  #showRate() {
    const { count, since } = this.#drawn;
    const now = performance.now();
    this.#figures.textContent = count > 1 ? `${Math.round(count * 1000 / (now - since))} pictures/s` : "";
    this.#drawn = { count: 0, since: count ? now : null };
  }
}

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
