// A camera's controls: brightness, exposure and whatever else its driver has.

import { make } from "./element.js";

const obstacles = {
  readOnly: "cannot be set",
  inactive: "another control, such as an automatic mode, decides this one",
  inUse: "cannot change while the camera records",
};

export class CameraControls {
  #ask;
  #rows = new Map();
  #note;
  #list;
  #canChange;
  // The latest wish of each control that has not been sent, while another is on its way.
  #wishes = new Map();
  #isSending = false;

  // ask(target, form): fetches JSON from the recorder, or sends it a form
  // canChange: whether the page may change something
  constructor(ask, canChange) {
    this.#ask = ask;
    this.#canChange = canChange;
    this.#note = make("p", { className: "note" });
    this.#note.setAttribute("role", "status");
    this.#list = make("div", { className: "sliders" });
    this.element = make("div");
    this.element.append(this.#note, this.#list);
  }

  async refresh() {
    if (this.#rows.size === 0) this.#say("asking the camera");
    try {
      const { controls } = await this.#ask("controls.json");
      this.#show(controls);
      this.#say(controls.length === 0 ? "this camera has no controls" : "");
    } catch (error) {
      this.#say(error.message, true);
    }
  }

  #show(controls) {
    const names = controls.map(({ name }) => name).join();
    if (names !== [...this.#rows.keys()].join()) {
      this.#rows = new Map(controls.map((control) => [control.name, this.#makeRow(control)]));
      this.#list.replaceChildren(...[...this.#rows.values()].map(({ element }) => element));
    }
    for (const control of controls) this.#rows.get(control.name).show(control);
  }

  #makeRow(control) {
    const element = make("div", { className: "slider" });
    const id = `control-${Math.random().toString(36).slice(2)}`;
    const label = make("label", { textContent: control.title, htmlFor: id });
    const [input, ...others] = this.#makeInput(control);
    input.id = id;
    input.dataset.control = control.name;
    element.append(label, input, ...others);
    const reset = make("button", { type: "button", textContent: "Default" });
    reset.setAttribute("aria-label", `${control.title}: default`);
    if (control.defaultValue !== undefined) {
      reset.addEventListener("click", () => this.#set(control.name, control.defaultValue));
      element.append(reset);
    }
    const show = (now) => {
      const reason = obstacles[now.obstacle] ?? (this.#canChange ? "" : "camweb only shows");
      for (const part of element.querySelectorAll("input, select, button")) {
        part.disabled = reason !== "" || now.kind === "other" || now.kind === "bits";
      }
      element.title = reason;
      // A slider that is being moved, or a text that is being typed, stays as it is.
      if (document.activeElement !== input || input.type === "range") this.#write(input, others[0], now);
    };
    return { element, show };
  }

  // Returns what sets it, and what shows its value where that does not.
  #makeInput({ name, title, kind, minimum, maximum, step, entries }) {
    const send = (value) => this.#set(name, value);
    switch (kind) {
      case "number": {
        // Too wide for a slider, such as a number of pixels a second.
        const isWide = maximum - minimum > 1e7;
        const input = make("input", { type: isWide ? "number" : "range", min: minimum, max: maximum, step: step || 1 });
        const output = make("output");
        input.addEventListener(isWide ? "change" : "input", () => {
          output.textContent = input.value;
          send(input.value);
        });
        return isWide ? [input] : [input, output];
      }
      case "switch": {
        const input = make("input", { type: "checkbox" });
        input.addEventListener("change", () => send(input.checked ? 1 : 0));
        return [input];
      }
      case "menu": {
        const input = make("select");
        input.append(...entries.map((entry) => make("option", { value: entry.value, textContent: entry.title })));
        input.addEventListener("change", () => send(input.value));
        return [input];
      }
      case "button": {
        const input = make("button", { type: "button", textContent: title });
        input.addEventListener("click", () => send(1));
        return [input];
      }
      case "text": {
        const input = make("input", { type: "text", maxLength: maximum });
        input.addEventListener("change", () => send(input.value));
        return [input];
      }
      default:
        return [make("input", { type: "text", readOnly: true })];
    }
  }

  #write(input, output, { kind, value, text }) {
    // A wish that is on its way is newer than what the camera said.
    if (this.#wishes.has(input.dataset.control)) return;
    if (kind === "switch") input.checked = value === 1;
    else if (kind === "bits") input.value = value === undefined ? "" : `0x${value.toString(16)}`;
    else if (kind === "other") input.value = "set it with v4l2-ctl";
    else if (kind !== "button") input.value = text ?? value ?? "";
    if (output && output.tagName === "OUTPUT") output.textContent = value ?? "";
  }

  // While a slider moves, only its latest value is sent.
  async #set(name, value) {
    this.#wishes.set(name, value);
    if (this.#isSending) return;
    this.#isSending = true;
    let problem = "";
    while (this.#wishes.size > 0) {
      const [next, wish] = this.#wishes.entries().next().value;
      try {
        await this.#ask("command", { command: "control", name: next, value: wish });
      } catch (error) {
        problem = error.message;
      }
      if (this.#wishes.get(next) === wish) this.#wishes.delete(next);
    }
    this.#isSending = false;
    // Others may depend on it.
    await this.refresh();
    if (problem) this.#say(problem, true);
  }

  #say(text, isProblem = false) {
    this.#note.textContent = text;
    this.#note.classList.toggle("problem", isProblem);
  }
}
