// Single pictures of recordings: the keyframe where the pointer is on the time line, and those of events.

import { make } from "./element.js";
import { clock, size } from "./time.js";

export const canShowKeyframes = "VideoDecoder" in window;

// Draws the keyframe at or before a time of a recording.
async function draw(path, canvas) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(await response.text());
  const [width, height] = response.headers.get("Camweb-Size").split("x").map(Number);
  const data = await response.arrayBuffer();
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

// The keyframe at a time, above the time line.
export class Preview {
  #library;
  #canvas = make("canvas");
  #text = make("span");
  #wanted = null;
  #isBusy = false;

  constructor(library) {
    this.#library = library;
    this.element = make("div", { className: "preview", hidden: true });
    this.element.ariaHidden = "true";
    this.element.append(this.#canvas, this.#text);
  }

  // x: where, in pixels of the time line.
  // isKnown: whether what was recorded then is known already.
  show(time, x, segment, isKnown) {
    this.element.hidden = time === null;
    this.#wanted = segment && { segment, at: Math.max(0, time - segment.start) };
    if (time === null) return;
    this.#text.textContent = `${clock(time)}${segment ? `, file of ${size(segment.bytes)}` : isKnown ? ": not recorded" : ""}`;
    this.#canvas.hidden = !segment || !canShowKeyframes;
    const half = this.element.offsetWidth / 2;
    const width = this.element.parentElement.clientWidth;
    this.element.style.left = `${Math.min(Math.max(x, half), Math.max(half, width - half)) - half}px`;
    this.#fetch();
  }

  // One picture at a time: the one that is wanted when the last one has come.
  async #fetch() {
    if (this.#isBusy || !canShowKeyframes) return;
    this.#isBusy = true;
    while (this.#wanted) {
      const { segment, at } = this.#wanted;
      this.#wanted = null;
      try {
        await draw(this.#library.path(`/${segment.id}.keyframe?at=${at}`), this.#canvas);
      } catch {
        // The time is shown without a picture.
        this.#canvas.hidden = true;
      }
    }
    this.#isBusy = false;
  }
}

// Draws small pictures of recordings, each once it comes into view, one after another.
export class Thumbnails {
  #library;
  #waiting = new Map();
  #isBusy = false;
  #observer;

  constructor(library) {
    this.#library = library;
    this.#observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) target.dataset.visible = isIntersecting ? "yes" : "";
      this.#work();
    });
  }

  // Draws the keyframe in the middle of a recording, once the canvas is visible.
  add(canvas, segment) {
    if (!canShowKeyframes) return;
    this.#waiting.set(canvas, this.#library.path(`/${segment.id}.keyframe?at=${Math.floor((segment.end - segment.start) / 2)}`));
    this.#observer.observe(canvas);
  }

  async #work() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    let next;
    while ((next = [...this.#waiting].find(([canvas]) => canvas.isConnected && canvas.dataset.visible))) {
      const [canvas, path] = next;
      this.#waiting.delete(canvas);
      this.#observer.unobserve(canvas);
      // An event that was removed has no picture.
      await draw(path, canvas).catch(() => {});
    }
    for (const canvas of this.#waiting.keys()) if (!canvas.isConnected) this.#waiting.delete(canvas);
    this.#isBusy = false;
  }
}
