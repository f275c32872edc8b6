// Times of recordings, which are microseconds since 1970, and how they are written. People see local time.

export const second = 1e6;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

// A time of day with its date.
export function clock(time) {
  return new Date(time / 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
}

// The same, without what is today's.
export function shortClock(time) {
  const [date, now] = [new Date(time / 1000), new Date()];
  const text = date.toLocaleTimeString([], { timeStyle: "medium" });
  if (date.toDateString() === now.toDateString()) return text;
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return `${date.toLocaleDateString([], { day: "numeric", month: "short", year })}, ${text}`;
}

// A time as it is typed, such as 2026-11-24 10:15:30; a date input takes it with a T in place of the blank.
export function written(time, separator = " ") {
  const date = new Date(time / 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}${separator}`
    + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// The time that was typed; null if it is none. A time without a date is of the same day as `near`.
export function parse(text, near) {
  const pattern = /^(?:(\d{4})-(\d\d?)-(\d\d?)[ T]+)?(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,6}))?)?$/;
  const found = pattern.exec(text.trim());
  if (!found) return null;
  const around = new Date(near / 1000);
  const [year, month, date] = found[1] ? [Number(found[1]), found[2] - 1, Number(found[3])]
    : [around.getFullYear(), around.getMonth(), around.getDate()];
  const [hours, minutes, seconds] = [Number(found[4]), Number(found[5]), Number(found[6] ?? 0)];
  const result = new Date(year, month, date, hours, minutes, seconds);
  const isReal = result.getMonth() === month && result.getDate() === date && hours < 24 && minutes < 60 && seconds < 60;
  return isReal ? result.getTime() * 1000 + Number((found[7] ?? "").padEnd(6, "0")) : null;
}

// How long a time is.
export function length(time) {
  const seconds = Math.round(time / second);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

export function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
