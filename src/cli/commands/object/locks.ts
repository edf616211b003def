// `store object retention` and `store object legal-hold`: show or change the lock of an object.

import type { AuditAction } from "../../../audit/audit-log.ts";
import type { Retention } from "../../../model/lock.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { Command, Invocation, ParsedOptions } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { parseFutureTime } from "../../framework/time-argument.ts";
import { type ObjectAddress, objectAddress } from "../../store/object-address.ts";
import { lockJson } from "../../store/object-output.ts";
import type { ObjectStore } from "../../store/object-store.ts";
import { parseMode } from "../../store/retention-options.ts";
import { requireObject, versionOption } from "../../store/version-options.ts";
import { withStore } from "../../store/with-store.ts";

export const retentionCommand: Command = {
  name: "retention",
  summary: "Show, set or remove the retention of an object",
  details:
    "Until the retention ends, the version cannot be removed. The bucket needs Object Lock: store bucket object-lock.\n" +
    "Governance retention is shortened or removed with --bypass-governance; compliance retention can only be extended.",
  usage: [
    "<bucket>/<key>",
    "<bucket>/<key> --mode MODE --until TIME [--version ID]",
    "<bucket>/<key> --clear [--version ID]",
  ],
  options: {
    mode: { value: "MODE", summary: "governance or compliance" },
    until: { value: "TIME", summary: "end: 2027-01-31T12:00:00Z, 2027-01-31 (its start), or 30d from now" },
    clear: { summary: "remove the retention" },
    "bypass-governance": { summary: "shorten or remove a governance retention" },
    version: versionOption,
  },
  examples: [
    "store object retention records/contract.pdf --mode governance --until 2030-01-01",
    "store object retention records/contract.pdf",
    "store object retention records/contract.pdf --clear --bypass-governance",
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const change = parseRetentionChange(options);
    const bypassGovernance = options.flag("bypass-governance");
    if (bypassGovernance && change === undefined)
      throw usageError("--bypass-governance needs a change: --mode MODE --until TIME, or --clear");
    const act = "change retention";
    const { name, record } = await withObject(invocation, act, (engine, { bucket, key }, version) =>
      change === undefined
        ? undefined
        : engine.setRetention(bucket, key, change.retention, { version, bypassGovernance }),
    );
    if (output.isJson) return output.json({ name, version: record.version, ...lockJson(record.lock ?? {}) });
    const retention = record.lock?.retention;
    const text =
      retention === undefined
        ? "has no retention"
        : `is under ${retention.mode} retention until ${output.time(retention.until)}`;
    await output.line(`${output.name(name)} ${text}.`);
  },
};

export const legalHoldCommand: Command = {
  name: "legal-hold",
  summary: "Show, set or remove the legal hold of an object",
  details:
    "While the legal hold is on, the version cannot be removed. The bucket needs Object Lock: store bucket object-lock.",
  usage: ["<bucket>/<key> [on|off]"],
  options: { version: versionOption },
  examples: [
    "store object legal-hold records/contract.pdf on",
    "store object legal-hold records/contract.pdf",
  ],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [, state] = parameters;
    if (state !== undefined && state !== "on" && state !== "off")
      throw usageError(`Write on or off, not "${state}".`);
    const act = "change legal hold";
    const { name, record } = await withObject(invocation, act, (engine, { bucket, key }, version) =>
      state === undefined ? undefined : engine.setLegalHold(bucket, key, state === "on", { version }),
    );
    if (output.isJson) return output.json({ name, version: record.version, ...lockJson(record.lock ?? {}) });
    const text = record.lock?.legalHold === true ? "on" : "off";
    await output.line(`The legal hold of ${output.name(name)} is ${text}.`);
  },
};

type ChangeLock = (
  engine: ObjectStore,
  address: ObjectAddress,
  version: string | undefined,
) => Promise<ObjectRecord> | undefined;

/** Runs `change` on the object of the command. Without a change, only reads the object. */
async function withObject(
  invocation: Invocation,
  action: AuditAction,
  change: ChangeLock,
): Promise<{ readonly name: string; readonly record: ObjectRecord }> {
  const [name = ""] = invocation.parameters;
  const address = objectAddress(name);
  const version = invocation.options.text("version");
  const options = { absent: "refuse", subject: { ...address, version } } as const;
  const record = await withStore(invocation, options, async ({ engine, recordAudit }) => {
    const changed = await change(engine, address, version);
    if (changed === undefined) return requireObject(engine, address, { version });
    await recordAudit(action, address.bucket, address.key);
    return changed;
  });
  return { name, record };
}

/** Undefined: show the retention. */
function parseRetentionChange(
  options: ParsedOptions,
): { readonly retention: Retention | undefined } | undefined {
  const [mode, until] = [options.text("mode"), options.text("until")];
  if (options.flag("clear")) {
    if (mode !== undefined || until !== undefined)
      throw usageError("--clear cannot be combined with --mode and --until.");
    return { retention: undefined };
  }
  if (mode === undefined && until === undefined) return undefined;
  if (mode === undefined || until === undefined)
    throw usageError("A retention needs both: --mode MODE --until TIME");
  return { retention: { mode: parseMode(mode), until: parseFutureTime("--until", until) } };
}
