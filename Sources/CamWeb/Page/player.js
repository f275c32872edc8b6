// The buttons below the picture: playing, and which time the time line shows.

import { make, makeButton, makeIconButton, setIcon } from "./element.js";
import { day, hour, parse, written } from "./time.js";

const speeds = [0.5, 1, 2, 4, 8, 16];
const spans = [["1 h", hour], ["6 h", 6 * hour], ["24 h", day], ["7 d", 7 * day]];
// By which part a view may differ from a span and still be one.
const tolerance = 0.03;

export class PlayerBar {
  #parts = {};
  #spans;

  // listener: toggle(), skip(seconds), neighbor(isLater), live(), speed(value), span(time), zoom(factor), pan(part), goTo(time)
  constructor(listener) {
    const parts = this.#parts;
    parts.toggle = makeIconButton("play", () => listener.toggle(), "Play or pause (Space)");
    parts.live = makeButton("Live", () => listener.live(), "Back to the live picture");
    parts.live.classList.add("live");
    this.element = make("div", { className: "bar" });
    const playing = this.#makeGroup("Player");
    playing.append(
      makeIconButton("previous", () => listener.neighbor(false), "Previous event or recording"),
      makeIconButton("back", () => listener.skip(-10), "10 seconds back (←)"), parts.toggle,
      makeIconButton("forward", () => listener.skip(10), "10 seconds forward (→)"),
      makeIconButton("next", () => listener.neighbor(true), "Next event or recording"),
      parts.live, this.#makeSpeed(listener));
    this.#spans = spans.map(([text, span]) => [makeButton(text, () => listener.span(span), `Show ${text}`), span]);
    const view = this.#makeGroup("Time shown");
    view.append(
      makeButton("‹", () => listener.pan(-0.5), "Earlier"), ...this.#spans.map(([button]) => button),
      makeButton("›", () => listener.pan(0.5), "Later"),
      makeButton("−", () => listener.zoom(2), "Show a longer time"), makeButton("+", () => listener.zoom(0.5), "Show a shorter time"));
    // Fingers do these on the time line.
    for (const button of [...view.children].slice(-2)) button.classList.add("zoom");
    // Where the camera's other buttons go.
    this.actions = this.#makeGroup("Camera");
    this.element.append(playing, view, this.#makeGoTo(listener), this.actions);
  }

  #makeGroup(label) {
    return make("div", { className: "controls", role: "group", ariaLabel: label });
  }

  #makeSpeed(listener) {
    const speed = make("select", { ariaLabel: "Speed", title: "Speed" });
    speed.append(...speeds.map((value) => make("option", {
      value: String(value), textContent: `${value === 0.5 ? "½" : value}×`, selected: value === 1,
    })));
    speed.addEventListener("change", () => listener.speed(Number(speed.value)));
    return speed;
  }

  #makeGoTo(listener) {
    const form = make("form", { className: "controls", ariaLabel: "Go to a time" });
    this.#parts.when = make("input", { type: "datetime-local", step: 1, required: true, ariaLabel: "Date and time" });
    form.append(this.#parts.when, make("button", { type: "submit", textContent: "Go to", title: "Play from this time" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const time = parse(this.#parts.when.value, 0);
      if (time !== null) listener.goTo(time);
    });
    return form;
  }

  // time: where it plays; null for live
  showPlaying(time, isPaused) {
    const { toggle, live, when } = this.#parts;
    setIcon(toggle, time !== null && !isPaused ? "pause" : "play");
    live.setAttribute("aria-pressed", String(time === null));
    const text = written(time ?? Date.now() * 1000, "T");
    if (!when.parentElement.contains(document.activeElement) && when.value !== text) when.value = text;
  }

  showView({ from, to }) {
    for (const [button, span] of this.#spans) {
      button.setAttribute("aria-pressed", String(Math.abs((to - from) / span - 1) < tolerance));
    }
  }
}
