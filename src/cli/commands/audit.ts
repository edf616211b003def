// `store audit`: who has changed what of the store beside its objects, by whichever way.
import { setTimeout as pause } from "node:timers/promises";
import { type Act, actNames } from "../../audit/audit-log.ts";
import { parseDuration } from "../../s3/auth/grants.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { withData } from "../store/open-store.ts";

const lookMilliseconds = 500;

export const auditCommand: Command = {
  name: "audit",
  summary: "Show who has changed keys, buckets, rules and secrets",
  details:
    "Acts of the command line, the console and the S3 API, oldest first. With --follow it goes on until it is interrupted.\n" +
    `Acts: ${actNames.join(", ")}.`,
  usage: ["[--act NAME] [--subject NAME] [--by NAME] [--since TIME] [--follow]"],
  options: {
    act: { value: "NAME", summary: 'only these, such as "create key"', repeatable: true },
    subject: { value: "NAME", summary: "only what was done to this bucket, key, secret or script" },
    by: { value: "NAME", summary: "only what this user, token or access key has done" },
    since: { value: "TIME", summary: "only the last of them, such as 24h" },
    follow: { summary: "wait for more" },
  },
  examples: ["store audit --since 7d", 'store audit --act "refuse sign-in" --follow'],
  async run(invocation) {
    const isWanted = filterOf(invocation);
    const { output, options } = invocation;
    await withData(invocation, { absent: "refuse" }, async ({ acts }) => {
      let place: string | undefined;
      for (;;) {
        for await (const noted of acts.read(place)) {
          place = noted.place;
          if (!isWanted(noted.act)) continue;
          // A line each, also as JSON: there may be many, and more may come.
          await output.line(output.isJson ? JSON.stringify(noted.act) : shown(noted.act));
        }
        if (!options.flag("follow")) return;
        await pause(lookMilliseconds);
      }
    });
  },
};

function filterOf({ options }: Invocation): (act: Act) => boolean {
  const names: readonly string[] = options.texts("act");
  const unknown = names.find((name) => !actNames.some((known) => known === name));
  if (unknown !== undefined) {
    throw usageError(`There is no act "${unknown}".`, `Acts: ${actNames.join(", ")}`);
  }
  const [subject, by, since] = [options.text("subject"), options.text("by"), options.text("since")];
  const from = since === undefined ? "" : new Date(Date.now() - durationOf(since)).toISOString();
  return (act) =>
    (names.length === 0 || names.includes(act.act)) &&
    (subject === undefined || act.subject === subject) &&
    (by === undefined || act.by.name === by) &&
    act.time >= from;
}

function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
}

function shown({ time, act, subject, by }: Act): string {
  const who = [by.face, by.name, by.remoteAddress].filter((part) => part !== undefined).join(" ");
  return [time, act, subject ?? "-", who].map(printable).join("  ");
}

/** Names come from outside: nothing of them may steer a terminal. */
function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
}
