// A camera's live stream: connects to camweb, and connects again when the connection is lost.

const version = 1;
const headerLength = 12;
const keyframeFlag = 1;
const pauses = { first: 250, longest: 4000 };

export class LiveStream {
  #path;
  #decoder;
  #listener;
  #socket = null;
  #timer = null;
  #pause = pauses.first;

  // decoder: configure({ codec, width, height }), decode({ isKeyframe, time, data }), reset()
  // listener: status({ state, reason })
  constructor(name, decoder, listener) {
    this.#path = `/live/${encodeURIComponent(name)}`;
    this.#decoder = decoder;
    this.#listener = listener;
  }

  open() {
    if (this.#socket || this.#timer) return;
    const address = new URL(this.#path, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.#take(event.data);
    socket.onclose = () => this.#retry(socket);
    this.#socket = socket;
  }

  close() {
    clearTimeout(this.#timer);
    this.#decoder.reset();
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
      if (kind === "format") this.#decoder.configure(content);
      if (kind === "status") this.#noteStatus(content);
      return;
    }
    const view = new DataView(data);
    if (view.byteLength < headerLength || view.getUint8(0) !== version) {
      this.#listener.status({ state: "unavailable", reason: "camweb was updated; reload this page" });
      return;
    }
    this.#decoder.decode({
      isKeyframe: (view.getUint8(1) & keyframeFlag) !== 0,
      time: Number(view.getBigInt64(4)),
      data: new Uint8Array(data, headerLength),
    });
  }

  #noteStatus(status) {
    // Another connection to the recorder begins with a keyframe.
    if (status.state === "waiting") this.#decoder.reset();
    // A decoder that cannot play the stream has said so.
    if (status.state !== "live" || !this.#decoder.isUnable) this.#listener.status(status);
  }

  #retry(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#listener.status({ state: "unavailable", reason: "no connection to camweb; is it still running?" });
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.open();
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, pauses.longest);
  }
}
