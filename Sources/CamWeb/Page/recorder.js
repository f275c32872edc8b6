// A camera's recorder, in its details: its figures and losses, its commands, the camera's controls, and the doctor's
// findings.

import { Chart } from "./chart.js";
import { CameraControls } from "./controls.js";
import { make, makeButton } from "./element.js";
import { ask } from "./question.js";
import { request } from "./request.js";
import { describeTime } from "./state.js";

// Milliseconds between looks at the figures.
const interval = 1000;

export class Recorder {
  #name;
  #canChange;
  #snapshot;
  #timer = null;
  #isAsking = false;
  #parts = {};
  #charts;
  #previous = null;
  #controls;

  // canChange: whether the page may change something
  // snapshot: the camera's, which also says what happened, even while the details are closed
  constructor(name, canChange, snapshot) {
    this.#name = name;
    this.#canChange = canChange;
    this.#snapshot = snapshot;
    this.#charts = {
      bits: new Chart("Bit rate", describeRate),
      frames: new Chart("Pictures", (value) => `${value.toFixed(1)}/s`),
      latency: new Chart("Capture to output", (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`),
    };
    this.#controls = new CameraControls((target, form) => this.#ask(target, form), canChange);
    this.element = make("section", { className: "recorder", ariaLabel: `${name}: recorder` });
    const charts = make("div", { className: "charts" });
    charts.append(...Object.values(this.#charts).map((chart) => chart.element));
    this.#parts.losses = make("ul", { className: "losses" });
    this.element.append(
      this.#makeActions(), charts, this.#parts.losses,
      this.#makeFold("Camera", this.#controls.element, () => this.#controls.refresh()), this.#makeDoctor());
  }

  open() {
    this.#refresh();
    this.#timer ??= setInterval(() => document.hidden || this.#refresh(), interval);
  }

  close() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.#previous = null;
    for (const chart of Object.values(this.#charts)) chart.clear();
  }

  #ask(target, form = null) {
    return request(this.#name, target, form);
  }

  #makeActions() {
    const parts = this.#parts;
    const actions = make("div", { className: "controls" });
    parts.keyframe = makeButton("Keyframe", () => this.#tell({ command: "keyframe" }, "the next picture is a keyframe"));
    parts.trigger = makeButton("Trigger", () => this.#tell({ command: "trigger" }, "what is in memory is being written"));
    parts.pause = makeButton("Pause recording", () => this.#togglePause());
    parts.rate = make("form", { className: "rate" });
    parts.rateInput = make("input", { type: "number", min: 0.001, max: 2000, step: "any", required: true });
    const label = make("label");
    label.append(make("span", { textContent: "Mbit/s" }), parts.rateInput);
    parts.rateButton = make("button", { type: "submit", textContent: "Set bit rate" });
    parts.rate.append(label, parts.rateButton);
    parts.rate.addEventListener("submit", (event) => {
      event.preventDefault();
      const rate = Math.round(parts.rateInput.valueAsNumber * 1e6);
      this.#tell({ command: "bitrate", value: rate }, `encoding at ${describeRate(rate)}`);
    });
    actions.append(parts.keyframe, parts.trigger, parts.pause, parts.rate);
    this.#enable(null);
    return actions;
  }

  #makeFold(title, content, opened) {
    const fold = make("details", { className: "fold" });
    fold.append(make("summary", { textContent: title }), content);
    fold.addEventListener("toggle", () => fold.open && opened());
    this.#parts[title.toLowerCase()] = fold;
    return fold;
  }

  #makeDoctor() {
    const findings = make("div", { className: "findings" });
    findings.setAttribute("role", "status");
    return this.#makeFold("Doctor", findings, async () => {
      findings.replaceChildren(make("p", { className: "note", textContent: "looking at cameras, encoders and disks" }));
      try {
        const { diagnosis } = await this.#ask("doctor.json");
        findings.replaceChildren(makeFindings(diagnosis.findings));
      } catch (error) {
        findings.replaceChildren(make("p", { className: "note problem", textContent: error.message }));
      }
    });
  }

  async #refresh() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const { stats } = await this.#ask("stats.json");
      if (this.#timer === null) return;
      this.#show(stats);
      if (this.#snapshot.note.dataset.kind === "outage") this.#snapshot.say("");
    } catch (error) {
      this.#enable(null);
      this.#previous = null;
      for (const chart of Object.values(this.#charts)) chart.add(performance.now(), null);
      this.#snapshot.say(error.message, "outage");
    } finally {
      this.#isAsking = false;
    }
  }

  #show(stats) {
    this.#enable(stats);
    const { rateInput } = this.#parts;
    if (stats.bitRate !== undefined && document.activeElement !== rateInput && rateInput.value === "") {
      rateInput.value = stats.bitRate / 1e6;
    }
    this.#chart(stats);
    const outages = describeOutages(stats);
    const losses = [...outages, ...describeLosses(stats)];
    const items = losses.length > 0 ? losses.slice() : [`nothing lost in ${describeTime(stats.seconds)}`];
    if (stats.paused > 0) items.push(`${stats.paused} frames not recorded during pauses`);
    this.#parts.losses.replaceChildren(...items.map((text) => make("li", { textContent: text })));
    this.#parts.losses.classList.toggle("problem", losses.length > 0);
  }

  // What happened since the figures before.
  #chart(stats) {
    const [now, previous] = [performance.now(), this.#previous];
    this.#previous = { stats, encoded: sum(stats.encoded), bytes: mostBytes(stats), ...latencies(stats) };
    const seconds = previous && stats.seconds - previous.stats.seconds;
    // The recorder answers with the same figures for half a second, and begins again when it restarts.
    if (!seconds || seconds < 0) return;
    const { encoded, bytes, count, sum: total } = this.#previous;
    const since = (value, before) => (value < before ? null : (value - before) / seconds);
    const bytesSince = since(bytes, previous.bytes);
    this.#charts.bits.add(now, bytesSince === null ? null : bytesSince * 8);
    this.#charts.frames.add(now, since(encoded, previous.encoded));
    const pictures = count - previous.count;
    this.#charts.latency.add(now, pictures > 0 ? ((total - previous.sum) / pictures) * 1000 : null);
  }

  #enable(stats) {
    const { keyframe, trigger, pause, rateInput, rateButton, camera } = this.#parts;
    // A recorder of an earlier version does not say what it can do.
    const abilities = stats?.abilities ?? { trigger: true, encoding: true, controls: true };
    const mayChange = stats !== null && this.#canChange;
    this.#snapshot.button.disabled = stats === null || !abilities.encoding;
    keyframe.disabled = rateInput.disabled = rateButton.disabled = !mayChange || !abilities.encoding;
    trigger.disabled = !mayChange;
    trigger.hidden = !abilities.trigger;
    pause.disabled = !mayChange;
    pause.textContent = stats?.state === "paused" ? "Resume recording" : "Pause recording";
    if (camera) camera.hidden = !abilities.controls;
    for (const button of [keyframe, trigger, pause, rateButton]) {
      button.title = this.#canChange ? "" : "camweb only shows; start it with --password-file or --allow-changes";
    }
  }

  async #tell(form, success) {
    try {
      await this.#ask("command", form);
      this.#snapshot.say(success, "done");
    } catch (error) {
      this.#snapshot.say(error.message, "problem");
    }
    this.#refresh();
  }

  async #togglePause() {
    if (this.#previous?.stats.state === "paused") return this.#tell({ command: "resume" }, "recording again");
    const isMeant = await ask({
      question: `Pause recording of ${this.#name}?`,
      consequence: "Nothing is recorded or sent until somebody resumes the recording. What happens in this time is lost.",
      no: "Keep recording", yes: "Pause",
    });
    if (isMeant) this.#tell({ command: "pause" }, "paused: nothing is recorded or sent");
  }
}

// What is not written at the moment, why, and since when.
function describeOutages({ outputs }) {
  return outputs.filter(({ outage }) => outage).map(({ output, outage }) =>
    `${output}: ${outage.condition} since ${new Date(outage.since).toLocaleString()}: nothing is recorded there`);
}

// What was lost, and why, in words.
function describeLosses(stats) {
  const losses = [
    [stats.droppedByDriver, "frames dropped by the camera or its driver: USB had no room, or this machine was too slow"],
    [stats.corrupt, "frames damaged by the camera or its cable"],
    [stats.droppedByUs, "frames dropped before encoding: the encoder or an output was too slow"],
    [sum(stats.droppedByEncoder), "frames lost in the encoder"],
    [stats.restarts, "restarts of the camera"],
    [sum(stats.encoderRestarts), "restarts of the encoder"],
    ...stats.outputs.map(({ lost, output }) => [lost, `frames lost on the way to ${output}`]),
  ];
  return losses.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}

function makeFindings(findings) {
  const list = make("ul");
  list.append(...findings.map(({ area, verdict, subject, message, remedy }) => {
    const item = make("li", { className: verdict });
    item.append(make("strong", { textContent: verdict }),
      ` ${area}: ${subject}: ${message}`);
    if (remedy) item.append(make("code", { textContent: remedy }));
    return item;
  }));
  return list;
}

// The bytes of the output that has most: each has the same pictures, or fewer.
function mostBytes({ outputs }) {
  return Math.max(0, ...outputs.map(({ bytes }) => bytes));
}

// How many pictures were written, and how long they took: by the live outputs, since a ring keeps pictures for seconds.
function latencies({ outputs }) {
  const measured = outputs.filter(({ latency }) => latency);
  const live = measured.filter(({ receivers }) => receivers !== undefined);
  const known = (live.length > 0 ? live : measured).map(({ latency }) => latency);
  return { count: sum(known.flatMap(({ counts }) => counts)), sum: sum(known.map((latency) => latency.sum)) };
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function describeRate(bits) {
  return bits >= 1e6 ? `${(bits / 1e6).toFixed(2)} Mbit/s` : `${Math.round(bits / 1e3)} kbit/s`;
}
