// `store audit`: who has changed what of the store beside its objects, by whichever way.
import { setTimeout as pause } from "node:timers/promises";
import { type AuditEntry, auditActions } from "../../audit/audit-log.ts";
import { parseDuration } from "../../s3/auth/grants.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { withData } from "../store/open-store.ts";

const pollMilliseconds = 500;

export const auditCommand: Command = {
  name: "audit",
  summary: "Show who has changed keys, buckets, rules and secrets",
  details:
    "Acts of the command line, the console and the S3 API, oldest first. With --follow it goes on until it is interrupted.\n" +
    `Acts: ${auditActions.join(", ")}.`,
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
    const matches = parseFilter(invocation);
    const { output, options } = invocation;
    await withData(invocation, { absent: "refuse" }, async ({ auditLog }) => {
      let position: string | undefined;
      for (;;) {
        for await (const item of auditLog.read(position)) {
          position = item.position;
          if (!matches(item.entry)) continue;
          // A line each, also as JSON: there may be many, and more may come.
          await output.line(output.isJson ? JSON.stringify(item.entry) : formatEntry(item.entry));
        }
        if (!options.flag("follow")) return;
        await pause(pollMilliseconds);
      }
    });
  },
};

function parseFilter({ options }: Invocation): (entry: AuditEntry) => boolean {
  const names: readonly string[] = options.texts("act");
  const unknown = names.find((name) => !auditActions.some((action) => action === name));
  if (unknown !== undefined) {
    throw usageError(`There is no act "${unknown}".`, `Acts: ${auditActions.join(", ")}`);
  }
  const [subject, by, since] = [options.text("subject"), options.text("by"), options.text("since")];
  const from = since === undefined ? "" : new Date(Date.now() - parseDurationOption(since)).toISOString();
  return (entry) =>
    (names.length === 0 || names.includes(entry.act)) &&
    (subject === undefined || entry.subject === subject) &&
    (by === undefined || entry.by.name === by) &&
    entry.time >= from;
}

function parseDurationOption(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
}

function formatEntry({ time, act: action, subject, by }: AuditEntry): string {
  const who = [by.face, by.name, by.remoteAddress].filter((part) => part !== undefined).join(" ");
  return [time, action, subject ?? "-", who].map(replaceControls).join("  ");
}

/** Names come from outside: nothing of them may steer a terminal. */
function replaceControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
}
