// Plays a camera's stream with Media Source Extensions, where a browser has no WebCodecs.

import { describe } from "/picture.js";

// Seconds that a player may be behind the newest picture, and that it keeps of what was played.
const farthest = 1;
const nearest = 0.1;
const kept = 5;
const pauses = { first: 250, longest: 4000 };

export class MediaPlayer {
  #path;
  #video;
  #listener;
  #abort = null;

  // listener: status({ state, reason }), drawn(), failed(reason)
  constructor(name, video, listener) {
    this.#path = `/live/${encodeURIComponent(name)}.mp4`;
    this.#video = video;
    this.#listener = listener;
    [video.muted, video.autoplay, video.playsInline] = [true, true, true];
    if (video.requestVideoFrameCallback) {
      const note = () => {
        listener.drawn();
        video.requestVideoFrameCallback(note);
      };
      video.requestVideoFrameCallback(note);
    }
  }

  static get isSupported() {
    return "MediaSource" in window;
  }

  open() {
    if (this.#abort) return;
    this.#abort = new AbortController();
    this.#play(this.#abort.signal);
  }

  close() {
    this.#abort?.abort();
    this.#abort = null;
  }

  // Fetches the stream again and again, until it is closed or cannot be played.
  async #play(signal) {
    let pause = pauses.first;
    while (!signal.aborted) {
      let reason = "no connection to camweb; is it still running?";
      try {
        const response = await fetch(this.#path, { signal });
        if (!response.ok) {
          reason = (await response.text()).trim();
        } else if (!MediaSource.isTypeSupported(response.headers.get("Content-Type"))) {
          this.close();
          const [, codec] = /codecs="(.*)"/.exec(response.headers.get("Content-Type")) ?? ["", "it"];
          return this.#listener.failed(`this browser does not play ${describe(codec)}`);
        } else {
          pause = pauses.first;
          await this.#append(response, signal);
          reason = "the stream ended; connecting again";
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error.name !== "TypeError") reason = `${error.message}; connecting again`;
      }
      this.#listener.status({ state: "unavailable", reason });
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, pauses.longest);
    }
  }

  async #append(response, signal) {
    const source = new MediaSource();
    const address = URL.createObjectURL(source);
    this.#video.src = address;
    try {
      await event(source, "sourceopen", signal);
      const buffer = source.addSourceBuffer(response.headers.get("Content-Type"));
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        buffer.appendBuffer(value);
        await event(buffer, "updateend", signal);
        this.#listener.status({ state: "live" });
        await this.#stayNearEnd(buffer, signal);
      }
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  // Skips what has come too late, and forgets what was played.
  async #stayNearEnd(buffer, signal) {
    const { buffered } = buffer;
    if (buffered.length === 0) return;
    const [start, end] = [buffered.start(0), buffered.end(buffered.length - 1)];
    const video = this.#video;
    if (video.currentTime < start || end - video.currentTime > farthest) {
      video.currentTime = Math.max(start, end - nearest);
    }
    // Browsers pause a video that they moved elsewhere.
    if (video.paused) video.play().catch(() => {});
    if (video.currentTime - start > 2 * kept) {
      buffer.remove(0, video.currentTime - kept);
      await event(buffer, "updateend", signal);
    }
  }
}

function event(target, name, signal) {
  return new Promise((resolve, reject) => {
    target.addEventListener(name, resolve, { once: true });
    target.addEventListener("error", () => reject(new Error("the stream cannot be played")), { once: true });
    signal.addEventListener("abort", () => reject(new Error("closed")), { once: true });
  });
}
