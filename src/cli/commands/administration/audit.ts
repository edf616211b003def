// `store audit`: prints and verifies the audit log of sign-ins, denied requests and changes to keys,
// buckets, rules and secrets.
import { setTimeout as pause } from "node:timers/promises";
import { type AuditEntry, type AuditLog, auditActions, minLogBytes } from "../../../audit/audit-log.ts";
import type { ChainReport } from "../../../audit/chain-report.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { parsePastTime, pastTimeRule } from "../../framework/time-argument.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { type ConsoleClient, withConsole } from "../../store/remote/console.ts";
import { chosenService } from "../../store/remote/service.ts";
import { readConsoleAudit } from "./console-audit.ts";

const pollMilliseconds = 500;
const remotePollMilliseconds = 2000;

export const auditCommand: Command = {
  name: "audit",
  summary: "Show or verify who changed keys, buckets, rules and secrets",
  details:
    "Lists actions from the command line, the console, the S3 API and the server, oldest first.\n" +
    "--verify proves that no entry was changed, removed or inserted; the exit code is 1 if one was.\n" +
    "Entries cut off the end show only with --expect and a hash that --verify printed earlier.\n" +
    `Times: ${pastTimeRule}.\nActions: ${auditActions.join(", ")}.`,
  usage: [
    "[--act NAME] [--subject NAME] [--by NAME] [--since TIME] [--until TIME] [--follow]",
    "--verify [--expect HASH]",
    "--limit SIZE",
  ],
  options: {
    act: { value: "NAME", summary: 'only this action, such as "create key"', repeatable: true },
    subject: { value: "NAME", summary: "only actions on this bucket, key, secret or script" },
    by: { value: "NAME", summary: "only actions by this user, token or access key" },
    since: { value: "TIME", summary: "only actions since this time, such as 24h" },
    until: { value: "TIME", summary: "only actions until this time, such as 2026-11-15" },
    follow: { summary: "wait for new entries until interrupted" },
    verify: { summary: "verify the hash chain of the log" },
    expect: { value: "HASH", summary: "a hash that must still be in the chain", repeatable: true },
    limit: { value: "SIZE", summary: "remove the oldest entries beyond this size, such as 512MiB" },
  },
  examples: [
    "store audit --since 7d",
    'store audit --act "refuse sign-in" --follow',
    "store audit --since 2026-11-01 --json",
    "store audit --verify",
  ],
  async run(invocation) {
    checkOptions(invocation);
    const { options } = invocation;
    const limit = options.text("limit");
    if (limit !== undefined) return changeLimit(invocation, limit);
    if (options.flag("verify")) return verify(invocation);
    const matches = parseFilter(invocation);
    const service = await chosenService(invocation);
    if (service !== undefined) {
      return withConsole(invocation, service, (client) => printRemote(invocation, client, matches));
    }
    return withData(invocation, { absent: "refuse" }, ({ auditLog }) => print(invocation, auditLog, matches));
  },
};

const filterOptions = ["subject", "by", "since", "until"];

function checkOptions({ options }: Invocation): void {
  const isVerify = options.flag("verify");
  const isLimit = options.text("limit") !== undefined;
  const isFiltered =
    options.flag("follow") ||
    options.texts("act").length > 0 ||
    filterOptions.some((name) => options.text(name) !== undefined);
  if (isVerify && isLimit) throw usageError("Specify --verify or --limit, not both.");
  if ((isVerify || isLimit) && isFiltered) {
    throw usageError(`${isVerify ? "--verify" : "--limit"} applies to the whole log and takes no filter.`);
  }
  if (options.texts("expect").length > 0 && !isVerify) throw usageError("--expect needs --verify.");
  const wrong = options.texts("expect").find((hash) => !/^[0-9a-f]{64}$/i.test(hash));
  if (wrong !== undefined) {
    throw usageError(`"${wrong}" is not a hash.`, "Use a hash of 64 digits that --verify printed.");
  }
}

async function print(
  { output, options }: Invocation,
  auditLog: AuditLog,
  matches: (entry: AuditEntry) => boolean,
): Promise<void> {
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
}

/** Asks for entries since the last one again and again; their numbers show which were printed. */
async function printRemote(
  { output, options }: Invocation,
  client: ConsoleClient,
  matches: (entry: AuditEntry) => boolean,
): Promise<void> {
  const given = options.text("since");
  let since = given === undefined ? undefined : parsePastTime("--since", given);
  let lastSeq = -1;
  for (let isFirst = true; ; isFirst = false) {
    for (const { entry, seq } of await readConsoleAudit(client, since)) {
      if (seq === undefined ? !isFirst : seq <= lastSeq) continue;
      lastSeq = seq ?? lastSeq;
      since = Date.parse(entry.time);
      if (matches(entry)) await output.line(output.isJson ? JSON.stringify(entry) : formatEntry(entry));
    }
    if (!options.flag("follow")) return;
    await pause(remotePollMilliseconds);
  }
}

async function verify(invocation: Invocation): Promise<number> {
  const { output, options } = invocation;
  const expected = options.texts("expect").map((hash) => hash.toLowerCase());
  const report = await withData(invocation, { absent: "refuse" }, ({ auditLog }) =>
    auditLog.verify(expected),
  );
  if (output.isJson) await output.json({ isWhole: report.breakCount === 0, ...report });
  else await printReport(report, output);
  return report.breakCount === 0 ? 0 : 1;
}

async function printReport(report: ChainReport, output: Output): Promise<void> {
  const { entries, unchained, repaired, breaks, breakCount, firstSeq, head } = report;
  for (const { message } of breaks) await output.line(replaceControls(message));
  if (breakCount > breaks.length) await output.line(`… and ${breakCount - breaks.length} more.`);
  if (head === undefined) {
    await output.line(`The log has no chain: ${formatEntries(unchained)} before it.`);
  } else {
    const numbers = `${firstSeq} to ${head.seq}`;
    await output.line(`Read ${formatEntries(entries)}, numbers ${numbers}.`);
    await output.line(`First: ${replaceControls(report.firstTime!)}`);
    await output.line(`Last:  ${replaceControls(report.lastTime!)}`);
    await output.line(`Head:  ${head.hash}`);
  }
  if (head !== undefined && unchained > 0) {
    await output.line(`${formatEntries(unchained)} before the chain, written by earlier versions.`);
  }
  if (repaired > 0)
    await output.line(`Crashes cut ${formatCount(repaired, "line")}; the chain records this.`);
  if (report.waiting > 0) {
    await output.line(
      `${formatEntries(report.waiting)} not in the chain yet: a stopped or blocked process holds audit.log.lock. ` +
        "End it or let it continue.",
    );
  }
  await output.line(
    breakCount === 0 ? "The chain is whole." : `The chain is broken: ${formatCount(breakCount, "finding")}.`,
  );
}

function formatEntries(count: number): string {
  return count === 1 ? "1 entry" : `${count} entries`;
}

async function changeLimit(invocation: Invocation, text: string): Promise<void> {
  const bytes = parseSize(text);
  await withData(invocation, { absent: "refuse" }, async ({ auditLog, recordAudit }: Data) => {
    await auditLog.limit(bytes);
    await recordAudit("change audit limit", undefined, `${bytes} bytes`);
  });
  if (!invocation.output.isJson) {
    await invocation.output.line(`The audit log is limited to ${invocation.output.size(bytes)}.`);
  } else await invocation.output.json({ limit: bytes });
}

const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

function parseSize(text: string): number {
  const [, digits, unit] = /^(\d{1,12})([KMG]iB)?$/.exec(text) ?? [];
  const bytes = Number(digits) * (unit === undefined ? 1 : units[unit]!);
  if (bytes >= minLogBytes && bytes <= Number.MAX_SAFE_INTEGER) return bytes;
  throw usageError(`--limit needs a size of at least 1MiB, not "${text}".`, "Write a size such as 512MiB.");
}

function parseFilter({ options }: Invocation): (entry: AuditEntry) => boolean {
  const names: readonly string[] = options.texts("act");
  const unknown = names.find((name) => !auditActions.some((action) => action === name));
  if (unknown !== undefined) {
    throw usageError(`There is no action "${unknown}".`, `Actions: ${auditActions.join(", ")}`);
  }
  const [subject, by] = [options.text("subject"), options.text("by")];
  const [since, until] = ["since", "until"].map((name) => {
    const text = options.text(name);
    return text === undefined ? undefined : new Date(parsePastTime(`--${name}`, text)).toISOString();
  });
  return (entry) =>
    (names.length === 0 || names.includes(entry.act)) &&
    (subject === undefined || entry.subject === subject) &&
    (by === undefined || entry.by.name === by) &&
    (since === undefined || entry.time >= since) &&
    (until === undefined || entry.time <= until);
}

function formatEntry({ time, act: action, subject, detail, count, by }: AuditEntry): string {
  const who = [by.face, by.name, by.remoteAddress].filter((part) => part !== undefined).join(" ");
  const more = [detail, count !== undefined && count > 1 ? `${count} times` : undefined];
  return [time, action, subject ?? "-", who, ...more.filter((part) => part !== undefined)]
    .map(replaceControls)
    .join("  ");
}

/** Replaces control characters: names come from clients and could send terminal commands. */
function replaceControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
}
