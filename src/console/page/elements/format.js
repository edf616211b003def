// Formats numbers, sizes, times and durations.

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** @param {number} count */
export function bytes(count) {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** @param {number} value */
export function number(value) {
  return value.toLocaleString("en-US");
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** @param {number} time */
export function time(time) {
  const date = new Date(time);
  /** @param {number} part */
  const two = (part) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/**
 * The value of a datetime-local input, in the time zone of the browser.
 *
 * @param {number} at
 */
export function localText(at) {
  return time(at).replace(" ", "T");
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/**
 * How long ago, for lists: "5 min ago".
 *
 * @param {number} time
 */
export function ago(time) {
  const milliseconds = Date.now() - time;
  return milliseconds < 10_000 ? "just now" : `${duration(milliseconds)} ago`;
}

/** @param {number} value per second */
export function rate(value) {
  if (value === 0) return "0";
  if (value < 0.01) return String(Number(value.toPrecision(2)));
  return value < 10 ? String(Number(value.toFixed(2))) : number(Math.round(value));
}

/** @param {number} value */
export function seconds(value) {
  if (value === 0) return "0 ms";
  return value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms` : `${value.toFixed(1)} s`;
}

/** @param {number} share from 0 to 1 */
export function percent(share) {
  const value = share * 100;
  return `${value === 0 || value >= 10 ? value.toFixed(0) : value.toFixed(1)} %`;
}
