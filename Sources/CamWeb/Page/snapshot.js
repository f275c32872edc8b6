// Saves the newest picture of a camera; and says what happened at the camera.

import { make, makeButton } from "./element.js";

export class Snapshot {
  #name;

  constructor(name) {
    this.#name = name;
    this.button = makeButton("Snapshot", () => this.#take(), "Save a picture");
    this.note = make("p", { className: "note recorder-note", role: "status" });
  }

  // kind: outage, problem, done, or nothing
  say(text, kind = "") {
    this.note.textContent = text;
    this.note.dataset.kind = kind;
    this.note.classList.toggle("problem", kind === "problem" || kind === "outage");
  }

  async #take() {
    try {
      const response = await fetch(`cameras/${encodeURIComponent(this.#name)}/snapshot.jpg`);
      if (!response.ok) throw new Error((await response.text()).trim());
      const address = URL.createObjectURL(await response.blob());
      const file = `${this.#name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")}-${fileTime(new Date())}.jpg`;
      make("a", { href: address, download: file }).click();
      URL.revokeObjectURL(address);
      this.say(`saved as ${file}`, "done");
    } catch (error) {
      this.say(error.message, "problem");
    }
  }
}

function fileTime(date) {
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-`
    + `${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}
