// Decodes a stream with WebCodecs, and draws each picture as soon as it is decoded.

import { make } from "./element.js";

// Pictures that may wait for the decoder; beyond that, the rest up to the next keyframe is skipped.
const longestQueue = 15;
// How many pictures a decoder may take, and how many milliseconds it may have, before it shows one.
const mostHidden = 20;
const patience = 5000;

// Notices a decoder that takes pictures and shows none: more pictures than any stream reorders, for longer than a page is
// busy.
export class Silence {
  #count = 0;
  #begin = 0;

  // Whether this picture is too much.
  noteTaken() {
    if (this.#count === 0) this.#begin = performance.now();
    this.#count += 1;
    return this.#count > mostHidden && performance.now() - this.#begin > patience;
  }

  end() {
    this.#count = 0;
  }
}

export class PictureDecoder {
  surface = make("canvas");
  #context = this.surface.getContext("2d", { alpha: false });
  #listener;
  #preference;
  #decoder = null;
  #config = null;
  #awaitsKeyframe = true;
  #silence = new Silence();

  // preference: the kind of decoder, for VideoDecoder
  // listener: drawn(), erred(error), unable()
  constructor(listener, preference) {
    this.#listener = listener;
    this.#preference = preference;
  }

  static get isSupported() {
    return "VideoDecoder" in window;
  }

  // The next keyframe begins a stream of this format.
  async configure({ codec, width, height }) {
    const config = {
      codec, codedWidth: width, codedHeight: height, optimizeForLatency: true, hardwareAcceleration: this.#preference,
    };
    this.reset();
    this.#config = config;
    let isSupported = false;
    try {
      ({ supported: isSupported } = await VideoDecoder.isConfigSupported(config));
    } catch {
      // A codec string that the browser cannot read.
    }
    if (isSupported || this.#config !== config) return;
    this.reset();
    this.#config = null;
    this.#listener.unable();
  }

  decode({ isKeyframe, time, duration, data }) {
    if (!this.#config) return;
    if (this.#decoder?.decodeQueueSize > longestQueue) this.#discard();
    if (this.#awaitsKeyframe && !isKeyframe) return;
    try {
      if (this.#silence.noteTaken()) throw new Error("the decoder returns no pictures");
      this.#decoder ??= this.#makeDecoder();
      const type = isKeyframe ? "key" : "delta";
      this.#decoder.decode(new EncodedVideoChunk({ type, timestamp: time, duration, data }));
      this.#awaitsKeyframe = false;
    } catch (error) {
      this.#listener.erred(error);
    }
  }

  // What comes next begins with a keyframe.
  reset() {
    this.#silence.end();
    this.#discard();
  }

  #discard() {
    if (this.#decoder && this.#decoder.state !== "closed") this.#decoder.close();
    this.#decoder = null;
    this.#awaitsKeyframe = true;
  }

  #makeDecoder() {
    const decoder = new VideoDecoder({
      output: (frame) => this.#draw(frame),
      error: (error) => decoder === this.#decoder && this.#listener.erred(error),
    });
    decoder.configure(this.#config);
    return decoder;
  }

  #draw(frame) {
    const { displayWidth: width, displayHeight: height } = frame;
    if (this.surface.width !== width || this.surface.height !== height) {
      this.surface.width = width;
      this.surface.height = height;
    }
    this.#context.drawImage(frame, 0, 0, width, height);
    frame.close();
    this.#silence.end();
    this.#listener.drawn();
  }
}
