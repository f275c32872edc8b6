// A camera's recordings, as camweb lists them.

import { day, hour, minute, second } from "./time.js";

// A pause between two recordings up to this is none.
const pause = 2 * second;
// A beginning so near before a time is that of what just began to play.
const justBegun = 3 * second;
// How far around a time the next beginning is looked for, one after another.
const reaches = [hour, day, 30 * day, 400 * day];

export class Library {
  #name;

  constructor(name) {
    this.#name = encodeURIComponent(name);
  }

  path(rest) {
    return `recordings/${this.#name}${rest}`;
  }

  async list(from, to) {
    const response = await fetch(this.path(`.json?from=${Math.max(0, Math.round(from))}&to=${Math.round(to)}`));
    if (response.status === 401) location.assign(`login${location.hash}`);
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  }

  // The recordings around a time, and the next one behind a long gap; if there is none, the last one.
  async around(time) {
    let [from, to] = [time - hour, time + day];
    let list = await this.list(from, to);
    for (const shorter of [hour, minute]) {
      if (!list.runs) break;
      [from, to] = [time - shorter, time + shorter];
      list = await this.list(from, to);
    }
    const { segments } = list;
    if (!segments.some(({ start }) => start > time)) {
      const rest = await this.list(time, Math.max(time, list.now) + day);
      const next = (rest.runs ?? rest.segments).find(({ start }) => start > time);
      if (next) segments.push(...(await this.list(next.start, next.start + minute)).segments.filter(({ start }) => start > time));
    }
    if (segments.length === 0 && list.last < time) segments.push(...(await this.list(list.last - second, list.last)).segments);
    return { from, to, segments, complete: list.complete };
  }

  // The first and the last recording of a time; none if there are none.
  async ends(from, to) {
    const { runs, segments } = await this.list(from, to);
    if (!runs) return segments.length > 0 ? [segments[0], segments.at(-1)] : [];
    const [begin, end] = [Math.max(from, runs[0].start), Math.min(to, runs.at(-1).end)];
    const first = (await this.list(begin, begin + minute)).segments[0];
    const last = (await this.list(end - minute, end)).segments.at(-1);
    return first && last ? [first, last] : [];
  }

  // When the event before or after a time began, or a recording after a gap; null if there is none.
  async neighbor(time, isLater) {
    for (const reach of reaches) {
      const [from, to] = isLater ? [time, time + reach] : [Math.max(0, time - reach), time];
      const list = await this.list(from, to);
      const found = isLater ? beginnings(list, from).find((begin) => begin > time)
        : beginnings(list, from).findLast((begin) => begin < time - justBegun);
      if (found !== undefined) return found;
      if (isLater ? to > list.now : from < (list.first ?? 0)) return null;
    }
    return null;
  }
}

// When each event began, and each recording after a gap.
function beginnings({ runs, segments }, from) {
  let end = from;
  const found = [];
  for (const part of runs ?? segments) {
    if (part.event || part.start - end > pause) found.push(part.start);
    end = Math.max(end, part.end);
  }
  return found;
}
