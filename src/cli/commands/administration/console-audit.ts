// Reads the audit log of a running server by the console's API.
import { type AuditEntry, auditActions } from "../../../audit/audit-log.ts";
import { isCount, isFields, isList, isText } from "../../../model/shape.ts";
import { CommandError } from "../../framework/command-error.ts";
import { type ConsoleClient, requireRoute } from "../../store/remote/console.ts";

/** Entries that are read before they are printed in the order of time. */
const maxEntries = 100_000;
const pageSize = 500;

export interface ConsoleEntry {
  readonly entry: AuditEntry;
  /** Number of the entry; undefined in entries of earlier versions. */
  readonly seq: number | undefined;
}

/** Returns the entries since the time, in milliseconds, the oldest first. */
export async function readConsoleAudit(
  client: ConsoleClient,
  since: number | undefined,
): Promise<readonly ConsoleEntry[]> {
  const found: ConsoleEntry[] = [];
  let before: number | undefined;
  do {
    const query = {
      limit: String(pageSize),
      ...(since === undefined ? {} : { since: String(since) }),
      ...(before === undefined ? {} : { before: String(before) }),
    };
    const page = await requireRoute(client.request({ method: "GET", path: "/api/audit", query }));
    if (!isList(page.entries, pageSize, isFields)) throw invalidEntry();
    found.push(...page.entries.map(parseEntry));
    if (found.length > maxEntries) {
      throw new CommandError(`The audit log has more than ${maxEntries} entries in this time.`, {
        hint: "Choose a shorter time: --since 24h",
      });
    }
    before = isCount(page.before) ? page.before : undefined;
  } while (before !== undefined);
  return found.reverse();
}

function parseEntry(row: Readonly<Record<string, unknown>>): ConsoleEntry {
  const { seq, time, action, subject, detail, count, by } = row;
  const act = auditActions.find((one) => one === action);
  if (act === undefined || !isCount(time) || time > 8.64e15 || !isFields(by)) throw invalidEntry();
  const face = faces.find((one) => one === by.face);
  if (face === undefined) throw invalidEntry();
  return {
    seq: isCount(seq) ? seq : undefined,
    entry: {
      time: new Date(time).toISOString(),
      act,
      subject: optionalText(subject),
      detail: optionalText(detail),
      count: isCount(count) && count > 1 ? count : undefined,
      by: {
        face,
        name: optionalText(by.name),
        remoteAddress: optionalText(by.address),
        request: optionalText(by.request),
      },
    },
  };
}

const faces = ["command line", "console", "s3", "server"] as const;

function optionalText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (isText(value, 65_536)) return value;
  throw invalidEntry();
}

function invalidEntry(): CommandError {
  return new CommandError("The console sent an audit entry that this version does not know.", {
    hint: "Use the version of the server.",
  });
}
