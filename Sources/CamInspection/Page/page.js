"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const frames = unpack(data.frames, data.count);
  if (frames.count === 0) return;

  const classes = ["idr", "intra", "predicted", "bidirectional", "unknown"];
  const names = ["IDR", "I", "P", "B", "unknown type"];
  const sizesChart = document.querySelector("canvas.sizes");
  const ratesChart = document.querySelector("canvas.rates");
  const overview = document.querySelector("canvas.overview");
  const readout = document.querySelector(".readout");
  const logarithmic = document.getElementById("logarithmic");
  const margin = { left: 72, right: 12, top: 18, bottom: 24 };
  const shortestView = Math.min(frames.count, 10);
  const view = { start: 0, end: frames.count };
  const rates = windowedRates();
  const totalMax = largest(frames.sizes, 0, frames.count);
  let selected = null;
  let pending = false;

  // A frame is one number: size * 16 + keyframe * 8 + IDR * 4 + type, in bytes of seven bits, lowest first.
  function unpack(text, limit) {
    const packed = atob(text);
    const sizes = new Float64Array(limit);
    const kinds = new Uint8Array(limit);
    const keyframes = [];
    let count = 0;
    for (let at = 0; at < packed.length && count < limit; count += 1) {
      let value = 0;
      let factor = 1;
      let byte;
      do {
        byte = packed.charCodeAt(at);
        at += 1;
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127 && at < packed.length);
      const flags = value % 16;
      sizes[count] = Math.floor(value / 16);
      kinds[count] = flags & 4 ? 0 : (flags & 3) + 1;
      if (flags & 8) keyframes.push(count);
    }
    const ends = new Float64Array(count + 1);
    for (let index = 0; index < count; index += 1) ends[index + 1] = ends[index] + sizes[index];
    return { count, sizes, kinds, keyframes, ends };
  }

  function largest(values, from, to) {
    let result = 0;
    for (let index = from; index < to; index += 1) if (values[index] > result) result = values[index];
    return result;
  }

  // Bits a second over the second that begins with each frame.
  function windowedRates() {
    const length = Math.max(1, Math.min(frames.count, Math.round(data.rate)));
    const values = new Float64Array(frames.count - length + 1);
    for (let index = 0; index < values.length; index += 1) {
      values[index] = (frames.ends[index + length] - frames.ends[index]) * 8 * data.rate / length;
    }
    return { length, values, largest: largest(values, 0, values.length) };
  }

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const number = (value) => Math.round(value).toLocaleString("en");

  function bytes(value) {
    if (value >= 1e6) return `${trimmed(value / 1e6)} MB`;
    return value >= 1e3 ? `${trimmed(value / 1e3)} kB` : `${Math.round(value)} B`;
  }

  function bitRate(value) {
    if (value >= 1e6) return `${trimmed(value / 1e6)} Mbit/s`;
    return value >= 1e3 ? `${trimmed(value / 1e3)} kbit/s` : `${Math.round(value)} bit/s`;
  }

  function trimmed(value) {
    return String(Number(value.toPrecision(3)));
  }

  function clock(frame) {
    const seconds = frame / data.rate;
    const minutes = Math.floor(seconds / 60);
    if (minutes === 0) return `${trimmed(seconds)} s`;
    const rest = seconds - minutes * 60;
    const hours = Math.floor(minutes / 60);
    const padded = rest.toFixed(2).padStart(5, "0").replace(/\.?0+$/, "").padStart(2, "0");
    return hours === 0 ? `${minutes}:${padded}` : `${hours}:${String(minutes % 60).padStart(2, "0")}:${padded}`;
  }

  // The number of keyframes up to a frame, which is the number of its GOP, from 1.
  function keyframesUpTo(frame) {
    let low = 0;
    let high = frames.keyframes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (frames.keyframes[middle] <= frame) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function describe(frame) {
    const gop = keyframesUpTo(frame);
    const first = gop > 0 ? frames.keyframes[gop - 1] : 0;
    return [
      `Frame ${number(frame)}, ${names[frames.kinds[frame]]}, ${clock(frame)}`,
      `${number(frames.sizes[frame])} bytes at offset ${number(data.offset + frames.ends[frame])}`,
      gop > 0 ? `GOP ${number(gop)}, frame ${number(frame - first)} of it` : "before the first keyframe",
    ];
  }

  function describeColumn(from, to) {
    let peak = from;
    for (let frame = from; frame < to; frame += 1) if (frames.sizes[frame] > frames.sizes[peak]) peak = frame;
    const average = (frames.ends[to] - frames.ends[from]) / (to - from);
    return [
      `Frames ${number(from)} to ${number(to - 1)}, from ${clock(from)}`,
      `${bytes(average)} on average`,
      `at most ${bytes(frames.sizes[peak])} (${names[frames.kinds[peak]]}, frame ${number(peak)})`,
    ];
  }

  // The chart's drawing surface in CSS pixels, sharp on any screen.
  function surface(canvas) {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    const plot = {
      left: margin.left, top: margin.top,
      width: width - margin.left - margin.right, height: height - margin.top - margin.bottom,
    };
    plot.right = plot.left + plot.width;
    plot.bottom = plot.top + plot.height;
    plot.x = (frame) => plot.left + (frame - view.start) / (view.end - view.start) * plot.width;
    return { context, plot, width, height, scale };
  }

  // Round numbers that divide a range into about so many steps.
  function steps(range, count, smallest) {
    const raw = Math.max(range / Math.max(count, 1), smallest);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
    return Math.max(step, smallest);
  }

  function drawValueAxis({ context, plot }, top, toY, label, values) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of values) {
      const y = Math.round(toY(value)) + 0.5;
      context.strokeStyle = color("line");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(plot.left, y);
      context.lineTo(plot.right, y);
      context.stroke();
      context.fillStyle = color("muted");
      context.fillText(label(value), plot.left - 8, y);
    }
  }

  // Frames between two marks of time: a number of seconds, minutes or hours that people count in.
  function timeStep(width) {
    const smallest = (view.end - view.start) / data.rate / (width / 130);
    const seconds = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
    return (seconds.find((step) => step >= smallest) ?? steps(smallest, 1, 86400)) * data.rate;
  }

  function drawFrameAxis({ context, plot }, step, label) {
    context.fillStyle = color("muted");
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let frame = Math.ceil(view.start / step) * step; frame < view.end; frame += step) {
      const x = plot.x(frame + (step === 1 ? 0.5 : 0));
      const text = label(frame);
      const half = context.measureText(text).width / 2;
      if (x - half >= 0 && x + half <= plot.right + margin.right) context.fillText(text, x, plot.bottom + 7);
    }
  }

  // GOPs as alternating bands, each with its number where there is room; too dense to tell apart, they are left out.
  function drawGroups({ context, plot }) {
    const first = Math.max(0, keyframesUpTo(view.start) - 1);
    const last = keyframesUpTo(view.end);
    const shown = Math.max(1, last - first);
    if (frames.keyframes.length === 0 || plot.width / shown < 4) return false;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    for (let index = first; index < last; index += 1) {
      const next = index + 1 < frames.keyframes.length ? frames.keyframes[index + 1] : frames.count;
      const left = Math.max(plot.left, plot.x(frames.keyframes[index]));
      const right = Math.min(plot.right, plot.x(next));
      if (right <= left) continue;
      if (index % 2 === 0) {
        context.fillStyle = color("band");
        context.fillRect(left, plot.top, right - left, plot.height);
      }
      context.fillStyle = color("muted");
      if (frames.keyframes[index] >= view.start) context.fillRect(Math.round(left), 4, 1, plot.top - 4 + plot.height);
      const title = `GOP ${index + 1}`;
      if (context.measureText(title).width + 10 < right - left) context.fillText(title, left + 5, plot.top - 5);
    }
    return true;
  }

  function sizeScale(plot, top) {
    const ceiling = Math.max(top, 10);
    if (!logarithmic.checked) {
      const step = steps(ceiling, 5, 1);
      const values = [];
      for (let value = 0; value <= ceiling; value += step) values.push(value);
      return { values, toY: (value) => plot.bottom - value / (ceiling * 1.04) * plot.height };
    }
    const values = [];
    for (let value = 10; value <= ceiling * 1.5; value *= 10) values.push(value);
    const range = Math.log10(ceiling * 1.2);
    return { values, toY: (value) => plot.bottom - Math.log10(Math.max(1, value)) / range * plot.height };
  }

  function drawSizes() {
    const drawing = surface(sizesChart);
    const { context, plot } = drawing;
    const from = Math.max(0, Math.floor(view.start));
    const to = Math.min(frames.count, Math.ceil(view.end));
    const scale = sizeScale(plot, largest(frames.sizes, from, to));
    const hasGroups = drawGroups(drawing);
    drawValueAxis(drawing, 0, scale.toY, bytes, scale.values);
    drawFrameAxis(drawing, steps(view.end - view.start, plot.width / 130, 1), number);
    context.save();
    context.beginPath();
    context.rect(plot.left, 0, plot.width, plot.bottom);
    context.clip();
    const perFrame = plot.width / (view.end - view.start);
    if (perFrame >= 1) drawBars(drawing, scale, from, to, perFrame);
    else drawColumns(drawing, scale);
    context.restore();
    document.getElementById("density").textContent =
      (perFrame >= 1 ? "" : "Each column: the largest frame of each type, and the average as a line. ") +
      (hasGroups || frames.keyframes.length === 0 ? "" : "GOPs are marked from a closer view on.");
    drawSelection(drawing);
  }

  function drawBars({ context, plot, scale: density }, scale, from, to, perFrame) {
    const palette = classes.map(color);
    const gap = perFrame >= 8 ? 2 : perFrame >= 3 ? 1 : 0;
    const snap = (x) => Math.round(x * density) / density;
    for (let frame = from; frame < to; frame += 1) {
      const left = snap(plot.x(frame));
      const right = snap(plot.x(frame + 1));
      const top = Math.min(scale.toY(frames.sizes[frame]), plot.bottom - 1);
      context.fillStyle = palette[frames.kinds[frame]];
      context.fillRect(left, snap(top), Math.max(right - left - gap, 1 / density), plot.bottom - snap(top));
    }
  }

  // Which frames a column of the plot stands for.
  function columnFrames(column, width) {
    const perPixel = (view.end - view.start) / width;
    const from = Math.floor(view.start + column * perPixel);
    const to = Math.floor(view.start + (column + 1) * perPixel);
    return [Math.max(0, Math.min(from, frames.count - 1)), Math.max(1, Math.min(Math.max(to, from + 1), frames.count))];
  }

  // Intra frames are few and large: a mark at their height on a faint stem leaves the others to be seen.
  function drawTop({ context, plot }, kind, fill, left, top) {
    context.fillStyle = fill;
    const isIntra = kind < 2;
    if (isIntra) context.globalAlpha = 0.18;
    context.fillRect(left, top, 1, plot.bottom - top);
    context.globalAlpha = 1;
    if (isIntra) context.fillRect(left - 0.5, top - 1, 2, 3);
  }

  function drawColumns({ context, plot }, scale) {
    const palette = classes.map(color);
    const width = Math.floor(plot.width);
    const tops = new Float64Array(classes.length);
    const averages = [];
    for (let column = 0; column < width; column += 1) {
      const [from, to] = columnFrames(column, width);
      tops.fill(-1);
      for (let frame = from; frame < to; frame += 1) {
        if (frames.sizes[frame] > tops[frames.kinds[frame]]) tops[frames.kinds[frame]] = frames.sizes[frame];
      }
      // The tallest first, so that none hides a lower one.
      const order = [0, 1, 2, 3, 4].filter((kind) => tops[kind] >= 0).sort((a, b) => tops[b] - tops[a]);
      for (const kind of order) {
        const top = Math.min(scale.toY(tops[kind]), plot.bottom - 1);
        drawTop({ context, plot }, kind, palette[kind], plot.left + column, top);
      }
      averages.push(scale.toY((frames.ends[to] - frames.ends[from]) / (to - from)));
    }
    context.lineJoin = "round";
    for (const [style, lineWidth] of [[color("card"), 3], [color("ink"), 1.25]]) {
      context.strokeStyle = style;
      context.lineWidth = lineWidth;
      context.beginPath();
      averages.forEach((y, column) => context.lineTo(plot.left + column + 0.5, y));
      context.stroke();
    }
  }

  function drawSelection({ context, plot }) {
    if (selected === null || selected < view.start - 1 || selected > view.end) return;
    const left = plot.x(selected);
    const width = Math.max(2, plot.x(selected + 1) - left);
    context.strokeStyle = color("ink");
    context.lineWidth = 1.5;
    context.strokeRect(left - 0.75, plot.top - 2, width + 0.5, plot.height + 2);
  }

  function drawRates() {
    const drawing = surface(ratesChart);
    const { context, plot } = drawing;
    const ceiling = Math.max(rates.largest, 1) * 1.12;
    const toY = (value) => plot.bottom - value / ceiling * plot.height;
    const step = steps(ceiling, 3, 1);
    const values = [];
    for (let value = 0; value <= ceiling; value += step) values.push(value);
    drawValueAxis(drawing, 0, toY, bitRate, values);
    drawFrameAxis(drawing, timeStep(plot.width), clock);
    context.save();
    context.beginPath();
    context.rect(plot.left, 0, plot.width, plot.bottom);
    context.clip();
    drawRateArea(drawing, toY);
    drawAverageRate(drawing, toY);
    context.restore();
  }

  // The highest and the lowest value of each column.
  function drawRateArea({ context, plot }, toY) {
    const half = rates.length / 2;
    const width = Math.floor(plot.width);
    const highs = [];
    const lows = [];
    for (let column = 0; column < width; column += 1) {
      const [first, last] = columnFrames(column, width);
      const from = Math.max(0, Math.min(Math.floor(first - half), rates.values.length - 1));
      const to = Math.max(from + 1, Math.min(Math.floor(last - half), rates.values.length));
      let high = 0;
      let low = Infinity;
      for (let index = from; index < to; index += 1) {
        if (rates.values[index] > high) high = rates.values[index];
        if (rates.values[index] < low) low = rates.values[index];
      }
      highs.push(toY(high));
      lows.push(toY(low));
    }
    context.fillStyle = color("rate-fill");
    context.beginPath();
    context.moveTo(plot.left, plot.bottom);
    highs.forEach((y, column) => context.lineTo(plot.left + column + 0.5, y));
    context.lineTo(plot.left + width, plot.bottom);
    context.fill();
    context.strokeStyle = color("rate");
    context.lineWidth = 1.5;
    for (const line of [highs, lows]) {
      context.beginPath();
      line.forEach((y, column) => context.lineTo(plot.left + column + 0.5, y));
      context.stroke();
    }
  }

  function drawAverageRate({ context, plot }, toY) {
    const average = frames.ends[frames.count] * 8 * data.rate / frames.count;
    const y = Math.round(toY(average)) + 0.5;
    context.strokeStyle = color("ink");
    context.lineWidth = 1;
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(plot.left, y);
    context.lineTo(plot.right, y);
    context.stroke();
    context.setLineDash([]);
    const text = `average ${bitRate(average)}, peak ${bitRate(rates.largest)}`;
    context.textAlign = "right";
    context.textBaseline = "alphabetic";
    context.fillStyle = color("ink");
    context.fillText(text, plot.right - 4, 12);
  }

  function drawOverview() {
    const { context, plot, width, height } = surface(overview);
    const columns = Math.floor(plot.width);
    const palette = classes.map(color);
    const isDense = frames.count > columns;
    context.fillStyle = color("band");
    context.fillRect(plot.left, 0, columns, height);
    let highestAverage = 1;
    for (let column = 0; isDense && column < columns; column += 1) {
      const from = Math.floor(column / columns * frames.count);
      const to = Math.max(from + 1, Math.floor((column + 1) / columns * frames.count));
      highestAverage = Math.max(highestAverage, (frames.ends[to] - frames.ends[from]) / (to - from));
    }
    for (let column = 0; column < columns; column += 1) {
      const from = Math.floor(column / columns * frames.count);
      const to = Math.max(from + 1, Math.floor((column + 1) / columns * frames.count));
      let peak = from;
      for (let frame = from; frame < to; frame += 1) if (frames.sizes[frame] > frames.sizes[peak]) peak = frame;
      // A frame each as far as that goes, then averages: a keyframe in every other column would hide the rest.
      const average = (frames.ends[to] - frames.ends[from]) / (to - from);
      const top = (isDense ? average / highestAverage * 0.8 : frames.sizes[peak] / Math.max(totalMax, 1)) * (height - 4);
      context.fillStyle = isDense ? color("muted") : palette[frames.kinds[peak]];
      context.fillRect(plot.left + column, height - top, 1, top);
    }
    const left = plot.left + view.start / frames.count * columns;
    const right = plot.left + view.end / frames.count * columns;
    context.globalAlpha = 0.65;
    context.fillStyle = color("card");
    context.fillRect(plot.left, 0, left - plot.left, height);
    context.fillRect(right, 0, plot.left + columns - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = color("accent");
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(2, right - left - 2), height - 2);
    context.clearRect(0, 0, Math.max(0, plot.left - 1), height);
    context.clearRect(plot.left + columns + 1, 0, width, height);
  }

  function draw() {
    pending = false;
    drawSizes();
    drawRates();
    drawOverview();
  }

  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(draw);
  }

  function show(start, length) {
    const clamped = Math.max(shortestView, Math.min(length, frames.count));
    view.start = Math.max(0, Math.min(start, frames.count - clamped));
    view.end = view.start + clamped;
    redraw();
  }

  // The place that stays where it is: the selected frame, if it is in view, else the middle.
  function anchor() {
    return selected !== null && selected >= view.start && selected < view.end
      ? selected + 0.5 : (view.start + view.end) / 2;
  }

  function zoom(factor, center = anchor()) {
    const length = Math.max(shortestView, Math.min((view.end - view.start) * factor, frames.count));
    const fraction = (center - view.start) / (view.end - view.start);
    show(center - fraction * length, length);
  }

  function select(frame) {
    selected = Math.max(0, Math.min(frame, frames.count - 1));
    const length = view.end - view.start;
    if (selected < view.start || selected + 1 > view.end) show(selected - length / 2, length);
    readout.textContent = describe(selected).join("; ");
    redraw();
  }

  function frameAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    const width = box.width - margin.left - margin.right;
    return view.start + (event.clientX - box.left - margin.left) / width * (view.end - view.start);
  }

  function showTooltip(canvas, tooltip, event) {
    const position = frameAt(canvas, event);
    if (position < view.start || position >= view.end) {
      tooltip.hidden = true;
      return;
    }
    const box = canvas.getBoundingClientRect();
    const width = Math.floor(box.width - margin.left - margin.right);
    const [from, to] = columnFrames(Math.floor(event.clientX - box.left - margin.left), width);
    const frame = Math.min(frames.count - 1, Math.floor(position));
    const lines = to - from > 1 ? describeColumn(from, to) : describe(frame);
    if (canvas === ratesChart) {
      const start = Math.max(0, Math.min(Math.floor(frame - rates.length / 2), rates.values.length - 1));
      lines.splice(1, lines.length, `${bitRate(rates.values[start])} over the second around it`);
    }
    tooltip.textContent = lines.join("\n");
    tooltip.hidden = false;
    const x = event.clientX - box.left;
    tooltip.style.left = `${Math.max(0, Math.min(x + 14, box.width - tooltip.offsetWidth))}px`;
    tooltip.style.top = `${Math.max(0, event.clientY - box.top - tooltip.offsetHeight - 10)}px`;
  }

  for (const canvas of [sizesChart, ratesChart]) {
    const tooltip = canvas.parentElement.querySelector(".tooltip");
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, start: view.start, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      showTooltip(canvas, tooltip, event);
      if (!drag) return;
      const width = canvas.clientWidth - margin.left - margin.right;
      const distance = event.clientX - drag.x;
      drag.moved ||= Math.abs(distance) > 3;
      if (drag.moved) show(drag.start - distance / width * (view.end - view.start), view.end - view.start);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) select(Math.floor(frameAt(canvas, event)));
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => { tooltip.hidden = true; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const length = view.end - view.start;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) show(view.start + event.deltaX / 600 * length, length);
      else zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200), frameAt(canvas, event));
    }, { passive: false });
    canvas.addEventListener("keydown", handleKey);
  }

  function handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const length = view.end - view.start;
    const current = selected ?? Math.floor(view.start);
    const keyframes = keyframesUpTo(current);
    const actions = {
      ArrowLeft: () => select(current - 1),
      ArrowRight: () => select(selected === null ? current : current + 1),
      PageUp: () => show(view.start - length * 0.9, length),
      PageDown: () => show(view.start + length * 0.9, length),
      Home: () => select(0),
      End: () => select(frames.count - 1),
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      0: () => show(0, frames.count),
      k: () => select(frames.keyframes[keyframes] ?? current),
      K: () => select(frames.keyframes[keyframes - (frames.keyframes[keyframes - 1] === current ? 2 : 1)] ?? current),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  function moveOverview(event) {
    const width = overview.clientWidth - margin.left - margin.right;
    const position = (event.clientX - overview.getBoundingClientRect().left - margin.left) / width * frames.count;
    const length = view.end - view.start;
    show(position - length / 2, length);
  }

  overview.addEventListener("pointerdown", (event) => {
    overview.setPointerCapture(event.pointerId);
    moveOverview(event);
  });
  overview.addEventListener("pointermove", (event) => { if (event.buttons & 1) moveOverview(event); });

  document.getElementById("closer").addEventListener("click", () => zoom(0.5));
  document.getElementById("farther").addEventListener("click", () => zoom(2));
  document.getElementById("everything").addEventListener("click", () => show(0, frames.count));
  logarithmic.addEventListener("change", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new ResizeObserver(redraw).observe(sizesChart);
  draw();
})();
