// Speed of all uploads together, and the time that is left, over the last seconds.
import { bytes, duration } from "../elements/format.js";

const windowMilliseconds = 8000;

export function createSpeed() {
  /** @type {{ time: number, sent: number }[]} */
  let samples = [];
  return {
    /**
     * Returns a text such as "12 MiB/s, 2 min left"; empty until the speed is known.
     *
     * @param {number} sent
     * @param {number} size
     */
    describe(sent, size) {
      const now = performance.now();
      const last = samples.at(-1);
      // A retry sends bytes again: start anew.
      if (last !== undefined && sent < last.sent) samples = [];
      samples.push({ time: now, sent });
      samples = samples.filter(({ time }) => now - time <= windowMilliseconds);
      const first = samples[0];
      const seconds = first === undefined ? 0 : (now - first.time) / 1000;
      if (first === undefined || seconds < 0.5 || sent >= size) return "";
      const speed = (sent - first.sent) / seconds;
      if (speed < 1) return "";
      return `${bytes(speed)}/s, ${duration(((size - sent) / speed) * 1000)} left`;
    },
  };
}
