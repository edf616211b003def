// `store audit`: prints the audit log of changes to keys, buckets, rules and secrets.
import { setTimeout as pause } from "node:timers/promises";
import { parseDuration } from "../../access/grants.ts";
import { type AuditEntry, auditActions } from "../../audit/audit-log.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { parseOrUsageError, usageError } from "../framework/command-error.ts";
import { withData } from "../store/open-store.ts";

const pollMilliseconds = 500;

export const auditCommand: Command = {
  name: "audit",
  summary: "Show who changed keys, buckets, rules and secrets",
  details:
    "Lists actions from the command line, the console and the S3 API, oldest first.\n" +
    `Actions: ${auditActions.join(", ")}.`,
  usage: ["[--act NAME] [--subject NAME] [--by NAME] [--since TIME] [--follow]"],
  options: {
    act: { value: "NAME", summary: 'only this action, such as "create key"', repeatable: true },
    subject: { value: "NAME", summary: "only actions on this bucket, key, secret or script" },
    by: { value: "NAME", summary: "only actions by this user, token or access key" },
    since: { value: "TIME", summary: "only actions in this period until now, such as 24h" },
    follow: { summary: "wait for new entries until interrupted" },
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
          // JSON also has one line per entry: with --follow, an array would never be complete.
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
    throw usageError(`There is no action "${unknown}".`, `Actions: ${auditActions.join(", ")}`);
  }
  const [subject, by, since] = [options.text("subject"), options.text("by"), options.text("since")];
  const from =
    since === undefined
      ? ""
      : new Date(Date.now() - parseOrUsageError(() => parseDuration(since))).toISOString();
  return (entry) =>
    (names.length === 0 || names.includes(entry.act)) &&
    (subject === undefined || entry.subject === subject) &&
    (by === undefined || entry.by.name === by) &&
    entry.time >= from;
}

function formatEntry({ time, act: action, subject, by }: AuditEntry): string {
  const who = [by.face, by.name, by.remoteAddress].filter((part) => part !== undefined).join(" ");
  return [time, action, subject ?? "-", who].map(replaceControls).join("  ");
}

/** Replaces control characters: names come from clients and could send terminal commands. */
function replaceControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
}
