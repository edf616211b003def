// Scales of a chart: round values for the axis of values, round times for the axis of time.

/**
 * Rounds up to 1, 2 or 5 times a power of ten, so that the scale rarely changes.
 *
 * @param {number} maxValue
 */
export function niceTop(maxValue) {
  if (maxValue <= 0) return 1;
  const tens = 10 ** Math.floor(Math.log10(maxValue));
  return [1, 2, 5, 10].map((step) => step * tens).find((step) => step >= maxValue) ?? maxValue;
}

/**
 * Like `niceTop`, so that half of it is a whole number.
 *
 * @param {number} maxValue
 */
export function niceCountTop(maxValue) {
  const tens = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, maxValue))));
  return [2, 4, 6, 10, 20].map((step) => step * tens).find((step) => step >= maxValue) ?? maxValue;
}

/**
 * Like `niceTop`, in units of 1024.
 *
 * @param {number} maxValue
 */
export function niceBytesTop(maxValue) {
  if (maxValue <= 0) return 1024;
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(maxValue) / 10));
  // Half a byte would be shown as a whole one.
  return unit === 1 ? niceCountTop(maxValue) : niceTop(maxValue / unit) * unit;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 4 * hour, 6 * hour, 12 * hour],
  ...[day, 2 * day, 5 * day, 7 * day, 10 * day],
];
const maxTicks = 6;

/**
 * Round times of the local clock between the two, with their labels.
 *
 * @param {number} from
 * @param {number} until
 * @returns {{ time: number, label: string }[]}
 */
export function timeTicks(from, until) {
  const step = steps.find((one) => (until - from) / one <= maxTicks) ?? 10 * day;
  const offset = new Date(until).getTimezoneOffset() * minute;
  const ticks = [];
  for (let time = Math.ceil((from - offset) / step) * step + offset; time <= until; time += step) {
    ticks.push({ time, label: step >= day ? dayLabel(time) : clockLabel(time) });
  }
  return ticks;
}

/** @param {number} time */
function clockLabel(time) {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** @param {number} time */
function dayLabel(time) {
  const date = new Date(time);
  return `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @param {number} part */
function two(part) {
  return String(part).padStart(2, "0");
}
