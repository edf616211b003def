// Runs the scheduled handlers of scripts at the times their cron expressions name, in UTC.
import { nextRun, parseCron } from "./cron.ts";
import type { RunningScript } from "./running-script.ts";

/** Timers cannot wait longer than about 24 days; looking again after an hour costs nothing. */
const longestWait = 3600 * 1000;

export function runSchedules(
  scripts: readonly RunningScript[],
  log: (line: string) => void,
): { close(): void } {
  const timers = new Map<string, NodeJS.Timeout>();

  function plan(script: RunningScript, cron: string): void {
    const due = nextRun(parseCron(cron), new Date()).getTime();
    const wait = Math.min(due - Date.now(), longestWait);
    const timer = setTimeout(() => {
      if (Date.now() >= due) run(script, cron, due);
      // A config that was changed meanwhile may have dropped this expression.
      if (script.config.crons.includes(cron)) plan(script, cron);
    }, wait).unref();
    timers.set(`${script.config.name} ${cron}`, timer);
  }

  function run(script: RunningScript, cron: string, due: number): void {
    script.scheduled(cron, due).catch((error: unknown) => {
      log(
        `Script "${script.config.name}", scheduled "${cron}": ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  }

  for (const script of scripts) for (const cron of script.config.crons) plan(script, cron);
  return {
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
