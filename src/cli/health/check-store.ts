// Checks of the store itself: its schema, the age of the latest backup, and its encryption.
import { inspectStore, type StoreState } from "../../maintenance.ts";
import type { LastBackup } from "../../model/backup.ts";
import { errorMessage, StoreError } from "../../model/errors.ts";
import { dayMilliseconds } from "../../model/limits.ts";
import { formatLocation, type Location } from "../../model/names/location.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { formatCount } from "../framework/output.ts";
import { checkDirectory } from "../store/open-store.ts";
import { checkOffset } from "./check-clock.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

export interface StoreFindings {
  readonly findings: readonly Finding[];
  /** Whether the store can be opened without being changed. */
  readonly canOpen: boolean;
}

const check = "store";

/** Inspects the store before it is opened: opening upgrades an older data directory. */
export async function checkStore(invocation: Invocation, location: Location): Promise<StoreFindings> {
  if (typeof location === "string") {
    const finding = checkExists(invocation, location);
    if (finding !== undefined) return { findings: [finding], canOpen: false };
  }
  let state: StoreState;
  try {
    state = await inspectStore(location);
  } catch (error) {
    const why = error instanceof StoreError ? error.detail : errorMessage(error);
    const cure =
      typeof location === "string"
        ? "Check the permissions of its files, and find damage: store verify"
        : "Check that PostgreSQL and the blob storage run and can be reached, and the URLs.";
    return { findings: [problem(check, `The store cannot be read: ${why}`, cure)], canOpen: false };
  }
  const clock = state.clockOffset === undefined ? [] : [checkOffset("PostgreSQL", state.clockOffset)];
  const schema = checkSchema(location, state);
  return { findings: [schema, ...clock], canOpen: schema.state === "ok" };
}

function checkExists(invocation: Invocation, location: string): Finding | undefined {
  try {
    checkDirectory(invocation, location, "refuse");
    return undefined;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return problem(check, error.message, error.hints[0] ?? "Choose another one: --data DIR");
  }
}

export function checkSchema(location: Location, { schema, knownSchema }: StoreState): Finding {
  const where = formatLocation(location);
  const isCluster = typeof location !== "string";
  if (schema === knownSchema) return ok(check, `${where} has schema version ${schema}.`);
  if (schema === undefined) {
    return problem(check, `${where} has no tables of Store yet.`, "Create them: store migrate");
  }
  if (schema > knownSchema) {
    return problem(
      check,
      `${where} has schema version ${schema}, this Store knows ${knownSchema}.`,
      "Install the version of Store that wrote it, or a later one.",
    );
  }
  const what = `${where} has schema version ${schema}, this Store uses ${knownSchema}.`;
  if (isCluster) return problem(check, what, "Upgrade it: store migrate");
  return warning(check, what, "The next command upgrades it. Make a backup with the old version first.");
}

const maxBackupDays = 7;

/** `objects` counts the objects of the store: an empty store needs no backup. */
export function checkBackup(
  backup: Pick<LastBackup, "time" | "to"> | undefined,
  {
    objects,
    isCluster,
    now,
  }: { readonly objects: number; readonly isCluster: boolean; readonly now: number },
): Finding {
  const name = "backup";
  if (backup === undefined) {
    if (objects === 0) return ok(name, "The store is empty: nothing to back up.");
    if (isCluster) {
      return ok(
        name,
        "No backup by store backup is known. Backups of a cluster by its own tools are not known to Store; check that they run.",
      );
    }
    return warning(
      name,
      "No backup was made yet.",
      "Make one, and repeat it regularly: store backup --to DIR",
    );
  }
  const days = Math.floor((now - backup.time) / dayMilliseconds);
  const what = `The latest backup, to ${backup.to}, is ${days === 0 ? "of the last 24 hours" : `${formatCount(days, "day")} old`}.`;
  if (days <= maxBackupDays) return ok(name, what);
  const staging = isCluster ? "--staging DIR " : "";
  return warning(name, what, `Repeat it: store backup ${staging}--to ${backup.to}`);
}
