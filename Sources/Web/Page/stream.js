// A camera's live stream: connects to camweb, and connects again when the connection is lost.

const version = 1;
const headerLength = 12;
const keyframeFlag = 1;
const pauses = { first: 250, longest: 4000 };

export class LiveStream {
  #path;
  #listener;
  #socket = null;
  #timer = null;
  #pause = pauses.first;

  // listener: format({ codec, width, height }), status({ state, reason }), picture({ isKeyframe, time, data })
  constructor(name, listener) {
    this.#path = `/live/${encodeURIComponent(name)}`;
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
      if (kind === "format") this.#listener.format(content);
      if (kind === "status") this.#listener.status(content);
      return;
    }
    const view = new DataView(data);
    if (view.byteLength < headerLength || view.getUint8(0) !== version) {
      this.#listener.status({ state: "unavailable", reason: "camweb was updated; reload this page" });
      return;
    }
    this.#listener.picture({
      isKeyframe: (view.getUint8(1) & keyframeFlag) !== 0,
      time: Number(view.getBigInt64(4)),
      data: new Uint8Array(data, headerLength),
    });
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
