// A camera's live stream: connects to camweb, connects again when the connection is lost, and plays the stream in the
// best way that works in this browser.

import { MediaDecoder } from "./media.js";
import { PictureDecoder } from "./picture.js";

const version = 2;
const headerLength = 12;
const flags = { keyframe: 1, header: 2 };
const pauses = { first: 250, longest: 4000 };
// The ways to play a stream, the best first.
const ways = [
  { Decoder: PictureDecoder, preference: "no-preference", ending: "", name: "" },
  { Decoder: PictureDecoder, preference: "prefer-software", ending: "", name: "software decoder" },
  { Decoder: MediaDecoder, ending: ".mp4", name: "Media Source Extensions" },
];
// A decoder that fails so many times is replaced. Failures before as many pictures are forgotten: a damaged picture is
// no failure of the decoder.
const mostErrors = 3;
const enoughPictures = 100;

export class LiveStream {
  #name;
  #size = "";
  #listener;
  #socket = null;
  #timer = null;
  #pause = pauses.first;
  #way = null;
  #decoder = null;
  // The format of the stream; null before the first.
  #format = null;
  #errors = 0;
  #pictures = 0;
  // Why the stream is not played in a better way, and whether that is a decoder's failure.
  #reason = "";
  #hasFailed = false;

  // listener: status({ state, reason, age }), drawn(), shows(surface, way)
  constructor(name, listener) {
    this.#name = name;
    this.#listener = listener;
    this.#choose(0);
  }

  open() {
    if (this.#socket || this.#timer) return;
    if (!ways.some(({ Decoder }) => Decoder.isSupported)) {
      return this.#sayUnable("this browser has neither WebCodecs nor Media Source Extensions; update it");
    }
    const path = `live/${encodeURIComponent(this.#name)}${this.#size}${this.#way?.ending ?? ""}`;
    const address = new URL(path, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.#take(event.data);
    socket.onclose = () => this.#retry(socket);
    this.#socket = socket;
  }

  // Whether the stream is that of the camera's smaller pictures. The last picture stays until the next one comes.
  set isSmall(isSmall) {
    const size = isSmall ? "/small" : "";
    if (size === this.#size) return;
    this.#size = size;
    // What failed with the other stream may work with this.
    this.#format = null;
    const isOpen = this.#socket !== null || this.#timer !== null;
    this.close();
    if (isOpen) this.open();
  }

  close() {
    clearTimeout(this.#timer);
    this.#decoder?.reset();
    const socket = this.#socket;
    [this.#timer, this.#socket] = [null, null];
    if (!socket) return;
    socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #take(data) {
    this.#pause = pauses.first;
    if (typeof data === "string") {
      const { kind, ...content } = JSON.parse(data);
      if (kind === "format") this.#noteFormat(content);
      if (kind === "status") this.#noteStatus(content);
      if (kind === "impossible") this.#replace(content.reason);
      return;
    }
    const view = new DataView(data);
    if (view.byteLength < headerLength || view.getUint8(0) !== version) {
      return this.#sayUnable("camweb was updated; reload this page");
    }
    this.#decoder?.decode({
      isKeyframe: (view.getUint8(1) & flags.keyframe) !== 0,
      isHeader: (view.getUint8(1) & flags.header) !== 0,
      duration: view.getUint16(2) * 1000,
      time: Number(view.getBigInt64(4)),
      data: new Uint8Array(data, headerLength),
    });
  }

  #noteFormat(format) {
    // After another connection it is the same, and what failed would fail again.
    if (JSON.stringify(format) === JSON.stringify(this.#format)) return;
    this.#format = format;
    [this.#reason, this.#hasFailed] = ["", false];
    const best = ways.find(({ Decoder }) => Decoder.isSupported);
    if (this.#way === best) this.#decoder.configure(format);
    else this.#choose(0);
  }

  #noteStatus(status) {
    if (status.state === "unavailable" && this.#leaveSmall()) return;
    // Another connection to the recorder begins with a keyframe.
    if (status.state === "waiting") this.#decoder?.reset();
    if (status.state === "unavailable" || this.#decoder) this.#listener.status(status);
    else this.#sayUnable(this.#reason);
  }

  // A smaller stream that cannot be had or played is no reason to show nothing.
  #leaveSmall() {
    if (!this.#size) return false;
    this.isSmall = false;
    return true;
  }

  #sayUnable(reason) {
    if (this.#leaveSmall()) return;
    this.#listener.status({ state: "unplayable", reason });
  }

  // Plays the stream in the first of these ways that the browser has, over another connection, which begins with a
  // keyframe.
  #choose(first) {
    const isOpen = this.#socket !== null;
    this.close();
    this.#way = ways.slice(first).find(({ Decoder }) => Decoder.isSupported) ?? null;
    [this.#errors, this.#pictures] = [0, 0];
    this.#decoder = this.#way && this.#makeDecoder(this.#way);
    if (this.#decoder) {
      this.#listener.shows(this.#decoder.surface, this.#hasFailed ? this.#way.name : "");
      if (this.#format) this.#decoder.configure(this.#format);
    } else if (this.#reason) {
      this.#sayUnable(this.#reason);
    }
    if (isOpen) this.open();
  }

  #makeDecoder({ Decoder, preference }) {
    const decoder = new Decoder({
      // Decoders that were replaced may still have something to say.
      drawn: () => decoder === this.#decoder && this.#noteDrawn(),
      erred: (error) => decoder === this.#decoder && this.#noteError(error),
      unable: () => decoder === this.#decoder && this.#replace(complain("does not play", this.#format.codec)),
    }, preference);
    return decoder;
  }

  #noteDrawn() {
    this.#pictures += 1;
    if (this.#pictures === enoughPictures) this.#errors = 0;
    this.#listener.drawn();
  }

  // The next keyframe repairs a damaged picture.
  #noteError(error) {
    this.#decoder.reset();
    this.#pictures = 0;
    this.#errors += 1;
    if (this.#errors < mostErrors) return;
    const reason = complain("fails to play", this.#format.codec, error.message);
    console.warn(`${this.#name}: ${reason}`);
    if (!this.#hasFailed) this.#reason = reason;
    this.#hasFailed = true;
    this.#replace(reason);
  }

  #replace(reason) {
    if (!this.#hasFailed) this.#reason = reason;
    this.#choose(ways.indexOf(this.#way) + 1);
  }

  #retry(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#listener.status({ state: "reconnecting", reason: "no connection to camweb; is it still running?" });
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.open();
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, pauses.longest);
  }
}

// Says what a browser does with a codec, why, and what to do.
export function complain(problem, codec, cause = "") {
  const [name, advice] = codec.startsWith("avc1") ? ["H.264", "update it or use another browser"]
    : ["H.265", "record with --codec h264"];
  return `this browser ${problem} ${name} (${codec})${cause ? `: ${cause}` : ""}; ${advice}`;
}
