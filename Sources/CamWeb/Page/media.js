// Plays a stream with Media Source Extensions, where a browser has no WebCodecs or their decoders fail.

import { make } from "./element.js";
import { Silence } from "./picture.js";

// Safari on phones has the managed one only.
export const Source = window.ManagedMediaSource ?? window.MediaSource;

// Seconds that a player may be behind the beginning of the newest picture, at least two pictures; where it goes on then;
// and what it keeps of what was played.
const farthest = 1;
// A player that is behind by so many seconds plays at this speed. Firefox is so behind each time that a slow camera's
// picture comes, because it waits at one picture for the next.
const hurry = { lag: 0.4, speed: 4 };
const nearest = 0.1;
const kept = 5;
// Pictures that may wait for the browser.
const longestQueue = 150;
const second = 1e6;

export class MediaDecoder {
  surface = make("video", { muted: true, autoplay: true, playsInline: true, disableRemotePlayback: true });
  #listener;
  #type = null;
  // The header of the container, with which each player begins.
  #header = null;
  #source = null;
  #buffer = null;
  #queue = [];
  // The picture that was appended last, and when it is shown, in seconds of the video; so for the keyframes.
  #latest = null;
  #newest = null;
  #keyframes = [];
  #silence = new Silence();

  // listener: drawn(), erred(error), unable()
  constructor(listener) {
    this.#listener = listener;
    const video = this.surface;
    video.addEventListener("error", () => this.#source && listener.erred(video.error));
    if (video.requestVideoFrameCallback) {
      const note = () => {
        listener.drawn();
        video.requestVideoFrameCallback(note);
      };
      video.requestVideoFrameCallback(note);
    } else {
      video.addEventListener("timeupdate", () => listener.drawn());
    }
  }

  static get isSupported() {
    return Source !== undefined;
  }

  // The next header begins a stream of this type.
  configure({ type }) {
    this.reset();
    this.#header = null;
    this.#type = type;
    if (!Source.isTypeSupported(type)) this.#listener.unable();
  }

  decode(part) {
    if (part.isHeader) {
      this.reset();
      this.#header = part;
      return;
    }
    if (!this.#header || !this.#source && !part.isKeyframe) return;
    if (!this.#source) this.#begin();
    if (this.surface.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) this.#silence.end();
    else if (this.#silence.noteTaken()) return this.#listener.erred(new Error("the player shows no pictures"));
    if (this.#queue.length > longestQueue) return this.#listener.erred(new Error("the player takes no pictures"));
    this.#queue.push(part);
    this.#work();
  }

  // What comes next begins with a keyframe. The last picture stays.
  reset() {
    this.#silence.end();
    [this.#source, this.#buffer, this.#queue, this.#latest] = [null, null, [], null];
    [this.#newest, this.#keyframes] = [null, []];
  }

  #begin() {
    const source = new Source();
    const address = URL.createObjectURL(source);
    [this.#source, this.#queue] = [source, [this.#header]];
    source.onsourceopen = () => {
      URL.revokeObjectURL(address);
      if (source === this.#source) this.#work();
    };
    this.surface.src = address;
  }

  // Does what comes next: appends a picture, or forgets what was played.
  #work() {
    if (this.#source.readyState !== "open" || this.#buffer?.updating) return;
    const forgettable = this.#keyframes.findLast((time) => time < this.surface.currentTime - kept);
    try {
      this.#buffer ??= this.#makeBuffer();
      if (forgettable > this.#keyframes[0]) {
        // Browsers remove whole groups only: up to the first keyframe that is not earlier.
        this.#buffer.remove(0, forgettable - nearest / 100);
        this.#keyframes = this.#keyframes.filter((time) => time >= forgettable);
      } else if (this.#queue.length > 0) {
        this.#append(this.#queue.shift());
      }
    } catch (error) {
      // A buffer that is full is no failure of the decoder.
      if (error.name === "QuotaExceededError") this.reset();
      else this.#listener.erred(error);
    }
  }

  #makeBuffer() {
    const buffer = this.#source.addSourceBuffer(this.#type);
    buffer.onupdateend = () => {
      if (buffer !== this.#buffer) return;
      this.#stayNear();
      this.#work();
    };
    return buffer;
  }

  #append(part) {
    if (!part.isHeader) this.#noteTime(part);
    this.#buffer.appendBuffer(part.data);
  }

  // Browsers drop all pictures from a gap of two pictures to the next keyframe (Media Source Extensions, coded frame
  // processing). The video's time therefore has no such gap.
  #noteTime(part) {
    const { time, duration } = this.#latest ?? part;
    const step = part.time - time;
    const isGap = step > 1.9 * duration;
    if (isGap) this.#buffer.timestampOffset -= (step - duration) / second;
    if (this.#newest !== null) this.#newest += (isGap ? duration : step) / second;
    this.#latest = part;
  }

  // Follows the newest picture, which is the one that was appended last.
  #stayNear() {
    const { buffered } = this.#buffer;
    if (!this.#latest || buffered.length === 0) return;
    const start = buffered.start(buffered.length - 1);
    this.#newest ??= start;
    if (this.#latest.isKeyframe && this.#keyframes.at(-1) !== this.#newest) this.#keyframes.push(this.#newest);
    const video = this.surface;
    const lag = this.#newest - video.currentTime;
    const allowance = Math.max(farthest, 2 * this.#latest.duration / second);
    if (video.currentTime < start || lag > allowance) video.currentTime = Math.max(start, this.#newest - nearest);
    video.playbackRate = lag > hurry.lag ? hurry.speed : 1;
    // Browsers pause a video that they moved elsewhere.
    if (video.paused) video.play().catch(() => {});
  }
}
