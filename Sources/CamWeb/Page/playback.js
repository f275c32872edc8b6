// Plays recordings across their files with Media Source Extensions, piece by piece. All times are in microseconds.

import { Source } from "./media.js";
import { complain } from "./stream.js";
import { second } from "./time.js";

const pieceLength = 10 * second;
// Seconds that are fetched ahead of what plays at speed 1, and kept of what was played.
const ahead = 15;
const kept = 20;
// Milliseconds between looks whether there is room, a gap to skip, or more of a recording that grows.
const interval = 200;
const patience = 2000;
// Seconds that may follow the beginning, whatever has been recorded.
const longestTime = 400 * 86400;
// Seconds that a picture is shown: in an ordinary recording, and in the slowest one whose pictures are stepped through. Of
// the latest ones, the shortest counts: at a high speed, pictures are left out.
const usualLength = 1 / 30;
const longestPicture = 5;
const lengthCount = 10;

export class Playback {
  #library;
  #listener;
  #abort = null;
  #timer = null;
  // The time at the video's zero.
  #base = null;
  #speed = 1;
  // Whether it begins with a picture that stands still, and whether it has begun: until then, a video is paused.
  #isHalted = false;
  #hasBegun = false;
  // When the picture that is seen is shown, and how long pictures were shown lately, in seconds of the video.
  #seen = null;
  #lengths = [];
  // The media type of the latest piece.
  #type = null;

  // listener: segments(), moved(time), noted(reason), ended(), failed(reason)
  constructor(library, video, listener) {
    this.#library = library;
    this.video = video;
    this.#listener = listener;
    [video.muted, video.playsInline, video.disableRemotePlayback] = [true, true, true];
    video.addEventListener("ended", () => this.#abort && listener.ended());
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback((_, { mediaTime }) => this.#noteSeen(mediaTime));
  }

  // Where it plays; null if it does not.
  get time() {
    return this.#base === null ? null : this.#base + Math.round(this.video.currentTime * second);
  }

  set speed(speed) {
    this.#speed = speed;
    this.video.playbackRate = speed;
  }

  get isOpen() {
    return this.#abort !== null;
  }

  get isPaused() {
    return this.#hasBegun ? this.video.paused : this.#isHalted;
  }

  toggle() {
    if (this.isOpen && !this.#hasBegun) this.#isHalted = !this.#isHalted;
    else if (this.video.paused) this.video.play().catch(() => {});
    else this.video.pause();
  }

  // isPaused: whether the picture of that time stands still
  play(time, isPaused) {
    if (this.#jump(time)) return;
    this.stop();
    this.#isHalted = isPaused;
    const abort = (this.#abort = new AbortController());
    this.#timer = setInterval(() => this.#watch(), interval);
    this.#run(time, abort.signal).catch((error) => {
      if (!abort.signal.aborted) this.#listener.failed(error.message);
    });
  }

  stop() {
    this.#abort?.abort();
    clearInterval(this.#timer);
    [this.#abort, this.#timer, this.#base, this.#hasBegun] = [null, null, null, false];
    [this.#seen, this.#lengths] = [null, []];
    this.video.removeAttribute("src");
    this.video.load();
  }

  // Goes to a time that is fetched already; returns whether it is.
  #jump(time) {
    const place = this.#base === null ? -1 : (time - this.#base) / second;
    const { buffered } = this.video;
    for (let index = 0; index < buffered.length; index += 1) {
      if (buffered.start(index) > place || place >= buffered.end(index)) continue;
      this.video.currentTime = place;
      return true;
    }
    return false;
  }

  #noteSeen(time) {
    const length = this.#seen === null ? 0 : time - this.#seen;
    if (!this.video.paused && length > 0 && length < longestPicture) this.#lengths = [...this.#lengths, length].slice(-lengthCount);
    this.#seen = time;
    this.video.requestVideoFrameCallback((_, { mediaTime }) => this.#noteSeen(mediaTime));
  }

  // Shows the next picture, or for -1 the one before, and stands still. Returns null, or its time if it has to be fetched.
  step(direction) {
    const { video } = this;
    video.pause();
    if (this.#base === null) return null;
    const length = this.#lengths.length > 0 ? Math.min(...this.#lengths) : usualLength;
    const seen = this.#seen ?? video.currentTime;
    // The middle of the other picture.
    const time = this.#base + Math.round((seen + (direction + 0.5) * length) * second);
    return this.#jump(time) ? null : time;
  }

  async #run(time, signal) {
    if (!Source) throw new Error("this browser has no Media Source Extensions; download the recording instead");
    const source = new Source();
    const address = URL.createObjectURL(source);
    this.video.src = address;
    await happens(source, "sourceopen", signal);
    URL.revokeObjectURL(address);
    // Otherwise a browser ignores where it should begin until it has decoded something.
    source.setLiveSeekableRange?.(0, longestTime);
    let buffer = null;
    let segment = this.#segment(time);
    if (!segment) throw new Error("nothing was recorded then");
    let at = Math.max(0, time - segment.start);
    while (segment) {
      const piece = await this.#fetch(segment, at, signal);
      if (piece) {
        const isFirst = !buffer;
        buffer = this.#prepare(source, buffer, piece, segment);
        if (isFirst) this.video.addEventListener("loadedmetadata", () => this.#begin(time), { once: true, signal });
        await this.#append(buffer, piece.response, signal);
        await this.#room(buffer, signal);
      }
      const latest = this.#listener.segments().find(({ id }) => id === segment.id);
      if (piece?.end != null) {
        at = piece.end;
      } else if (piece && latest?.growing) {
        // The file's last pictures come again, with those that have been added.
        at = piece.start;
        await pause(patience, signal);
      } else {
        segment = this.#listener.segments().find(({ start }) => start > segment.start);
        at = 0;
      }
    }
    if (!buffer) throw new Error("nothing that plays was recorded then");
    source.endOfStream();
  }

  // The recording at a time, or else the next one.
  #segment(time) {
    const segments = this.#listener.segments();
    return segments.findLast(({ start, end }) => start <= time && time < end) ?? segments.find(({ start }) => start > time)
      ?? segments.at(-1);
  }

  // Returns nothing if the recording is gone or cannot be read.
  async #fetch(segment, at, signal) {
    for (;;) {
      const path = this.#library.path(`/${segment.id}.mp4?at=${at}&length=${pieceLength * this.#speed}`);
      const response = await fetch(path, { signal });
      const number = (name) => Number(response.headers.get(name));
      if (response.ok) {
        const end = response.headers.has("Camweb-End") ? number("Camweb-End") : null;
        return { response, start: number("Camweb-Start"), end, delay: number("Camweb-Delay") };
      }
      const reason = (await response.text()).trim();
      if (response.status !== 503) {
        this.#listener.noted(reason);
        return null;
      }
      await pause(patience, signal);
    }
  }

  #begin(time) {
    this.video.currentTime = Math.max(second, time - this.#base) / second;
    this.video.playbackRate = this.#speed;
    this.#hasBegun = true;
    if (!this.#isHalted) this.video.play().catch(() => {});
  }

  // Readies the buffer for a piece.
  #prepare(source, buffer, { response, start, delay }, segment) {
    const type = response.headers.get("Content-Type");
    if (!Source.isTypeSupported(type)) {
      const [, codec] = /codecs="([^,"]*)/.exec(type) ?? ["", "it"];
      throw new Error(complain("does not play", codec));
    }
    if (!buffer) {
      buffer = source.addSourceBuffer(type);
      // What would come before zero by a rounding error would be dropped, up to the next keyframe.
      this.#base = segment.start + start - second;
    } else if (type !== this.#type) {
      buffer.changeType(type);
    }
    this.#type = type;
    buffer.timestampOffset = (segment.start + start - this.#base - delay) / second;
    return buffer;
  }

  async #append(buffer, response, signal) {
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (;;) {
        try {
          buffer.appendBuffer(value);
          break;
        } catch (error) {
          if (error.name !== "QuotaExceededError") throw error;
          await this.#forget(buffer, signal);
          await pause(interval, signal);
        }
      }
      await happens(buffer, "updateend", signal);
    }
  }

  // Waits until what is fetched ahead has been played, and forgets what was.
  async #room(buffer, signal) {
    const end = () => (buffer.buffered.length > 0 ? buffer.buffered.end(buffer.buffered.length - 1) : 0);
    while (end() - this.video.currentTime > ahead * this.#speed) await pause(interval, signal);
    await this.#forget(buffer, signal);
  }

  async #forget(buffer, signal) {
    const until = this.video.currentTime - kept;
    if (buffer.buffered.length === 0 || buffer.buffered.start(0) >= until) return;
    buffer.remove(0, until);
    await happens(buffer, "updateend", signal);
  }

  // Says where it is, and skips what nobody recorded.
  #watch() {
    const { video } = this;
    if (this.#base === null) return;
    const { buffered, currentTime } = video;
    const lacksNext = video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    if (lacksNext && !video.paused) {
      for (let index = 0; index < buffered.length; index += 1) {
        if (buffered.start(index) > currentTime) {
          video.currentTime = buffered.start(index);
          break;
        }
      }
    }
    this.#listener.moved(this.time);
  }
}

function happens(target, name, signal) {
  return new Promise((resolve, reject) => {
    const options = { once: true, signal };
    target.addEventListener(name, resolve, options);
    target.addEventListener("error", () => reject(new Error("the recording cannot be played")), options);
    signal.addEventListener("abort", () => reject(new Error("closed")), { once: true });
  });
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new Error("closed"));
    }, { once: true });
  });
}
