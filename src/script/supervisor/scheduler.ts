// Runs the scheduled handlers of scripts at the times their cron expressions name, in UTC.
import { errorMessage } from "../../model/errors.ts";
import { nextRun, parseCron } from "../config/cron.ts";
import type { RunningScript } from "./running-script.ts";

export interface Schedules {
  /** Applies the schedules of the current configurations. */
  plan(): void;
  close(): void;
}

/** Node timers are limited to about 24 days, so longer waits are split into hours. */
const maxWaitMilliseconds = 3600 * 1000;

export function createSchedules(scripts: readonly RunningScript[], log: (line: string) => void): Schedules {
  /** Timers by script and cron expression. */
  const timers = new Map<string, NodeJS.Timeout>();

  function schedule(id: string, script: RunningScript, cron: string): void {
    const due = nextRun(parseCron(cron, script.config.sunday), new Date()).getTime();
    const timer = setTimeout(
      () => {
        if (Date.now() >= due) run(script, cron, due);
        schedule(id, script, cron);
      },
      Math.min(due - Date.now(), maxWaitMilliseconds),
    );
    timers.set(id, timer.unref());
  }

  function run(script: RunningScript, cron: string, due: number): void {
    script.scheduled(cron, due).catch((error: unknown) => {
      log(`Script "${script.config.name}", scheduled "${cron}": ${errorMessage(error)}`);
    });
  }

  function cancel(id: string, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    timers.delete(id);
  }

  return {
    plan() {
      const planned = new Map<string, { readonly script: RunningScript; readonly cron: string }>(
        scripts.flatMap((script) =>
          script.config.crons.map((cron) => [`${script.config.name} ${cron}`, { script, cron }] as const),
        ),
      );
      for (const [id, timer] of timers) if (!planned.has(id)) cancel(id, timer);
      for (const [id, { script, cron }] of planned) if (!timers.has(id)) schedule(id, script, cron);
    },
    close() {
      for (const [id, timer] of timers) cancel(id, timer);
    },
  };
}
