// The state of a live picture: how old the newest picture is, and what camweb says about the recorder.

const words = {
  connecting: "connecting", waiting: "waiting for a keyframe", live: "live", paused: "paused", unavailable: "recorder gone",
  unplayable: "cannot be played", reconnecting: "reconnecting",
};
// For people who only watch, and need no causes.
const plainWords = {
  ...words, waiting: "waiting for a picture", unavailable: "camera offline", unplayable: "this browser cannot play this camera",
  reconnecting: "no connection; trying again",
};
// In these states there are no pictures, however young the newest one is.
const absences = ["paused", "unavailable", "unplayable", "reconnecting"];
// In milliseconds: a picture of this age is no longer live, unless the camera is slow.
const shortestPatience = 3000;
// A camera is as slow as the median of its latest intervals, of which an outage is only one.
const intervalCount = 5;

export class LiveState {
  #seesDetails;
  #status = { state: "connecting" };
  // When the newest picture was shown; before the first one, since when there is none.
  #newest = 0;
  #hasPicture = false;
  #intervals = [];

  // seesDetails: whether causes are said
  constructor(seesDetails) {
    this.#seesDetails = seesDetails;
  }

  // Begins to watch; what is visible is from before.
  open(now) {
    this.#status = { state: "connecting" };
    this.#newest = now;
    this.#hasPicture = false;
    this.#intervals = [];
  }

  // age: milliseconds since the newest picture that camweb got; undefined if unknown
  take({ state, reason = "", age = 0 }, now) {
    this.#status = { state, reason };
    if (!this.#hasPicture) this.#newest = Math.min(this.#newest, now - age);
  }

  noteShown(now) {
    if (this.#hasPicture) this.#intervals = [...this.#intervals, now - this.#newest].slice(-intervalCount);
    this.#newest = now;
    this.#hasPicture = true;
  }

  // Returns the state, what to say of it, and the reason, if there is one.
  describe(now) {
    const { state } = this.#status;
    const reason = this.#seesDetails ? this.#status.reason : "";
    const said = this.#seesDetails ? words : plainWords;
    if (absences.includes(state)) return { state, text: said[state], reason };
    const age = now - this.#newest;
    if (age >= this.#patience) return { state: "silent", text: `no picture for ${describeTime(age / 1000)}`, reason: "" };
    const shown = state === "live" && !this.#hasPicture ? "waiting" : state;
    return { state: shown, text: said[shown] ?? shown, reason };
  }

  get #patience() {
    const sorted = [...this.#intervals].sort((one, other) => one - other);
    return Math.max(shortestPatience, sorted.length < intervalCount ? 0 : 3 * sorted[(intervalCount - 1) / 2]);
  }
}

export function describeTime(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
