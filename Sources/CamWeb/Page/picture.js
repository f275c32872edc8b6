// Decodes a stream with WebCodecs, and draws each picture as soon as it is decoded.

// Pictures that may wait for the decoder; beyond that, the rest up to the next keyframe is skipped.
const longestQueue = 15;

export class PictureDecoder {
  #canvas;
  #context;
  #listener;
  #decoder = null;
  #config = null;
  #awaitsKeyframe = true;

  // listener: drawn(), failed(reason)
  constructor(canvas, listener) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#listener = listener;
  }

  static get isSupported() {
    return "VideoDecoder" in window;
  }

  // Whether the browser cannot decode the stream.
  isUnable = false;

  // The next keyframe begins a stream of this format.
  async configure({ codec, width, height }) {
    const config = { codec, codedWidth: width, codedHeight: height, optimizeForLatency: true };
    this.reset();
    this.#config = config;
    this.isUnable = false;
    let isSupported = false;
    try {
      ({ supported: isSupported } = await VideoDecoder.isConfigSupported(config));
    } catch {
      // A codec string that the browser cannot read.
    }
    if (!isSupported && this.#config === config) this.#fail(`this browser does not play ${describe(codec)}`);
  }

  decode({ isKeyframe, time, data }) {
    if (!this.#config) return;
    if (this.#decoder && this.#decoder.decodeQueueSize > longestQueue) this.reset();
    if (this.#awaitsKeyframe && !isKeyframe) return;
    try {
      this.#decoder ??= this.#makeDecoder();
      this.#decoder.decode(new EncodedVideoChunk({ type: isKeyframe ? "key" : "delta", timestamp: time, data }));
      this.#awaitsKeyframe = false;
    } catch {
      this.reset();
    }
  }

  // What comes next begins with a keyframe.
  reset() {
    if (this.#decoder && this.#decoder.state !== "closed") this.#decoder.close();
    this.#decoder = null;
    this.#awaitsKeyframe = true;
  }

  #makeDecoder() {
    const decoder = new VideoDecoder({
      output: (frame) => this.#draw(frame),
      // A damaged picture; the next keyframe repairs it.
      error: () => this.reset(),
    });
    decoder.configure(this.#config);
    return decoder;
  }

  #draw(frame) {
    const { displayWidth: width, displayHeight: height } = frame;
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
    }
    this.#context.drawImage(frame, 0, 0, width, height);
    frame.close();
    this.#listener.drawn();
  }

  #fail(reason) {
    this.reset();
    this.#config = null;
    this.isUnable = true;
    this.#listener.failed(reason);
  }
}

// What people call a codec, with what to do where the browser does not play it.
export function describe(codec) {
  return codec.startsWith("avc1") ? `this kind of H.264 (${codec})` : `H.265 (${codec}); record with --codec h264`;
}
