// Runs all checks of `store doctor`. A check that fails unexpectedly is itself a finding.
import { resolve } from "node:path";
import { readLastBackup } from "../../maintenance.ts";
import type { LastBackup } from "../../model/backup.ts";
import { errorMessage } from "../../model/errors.ts";
import type { Location } from "../../model/names/location.ts";
import { listServers, type ServerRecord } from "../../servers/server-record.ts";
import type { Invocation } from "../framework/command.ts";
import { withData } from "../store/open-store.ts";
import { checkCertificates } from "./check-certificates.ts";
import { checkPeerClocks } from "./check-clock.ts";
import { checkDisk } from "./check-disk.ts";
import { checkNode, checkOpenFiles, checkVersions } from "./check-machine.ts";
import { checkClusterKey, checkPermissions } from "./check-permissions.ts";
import { checkPorts } from "./check-ports.ts";
import { checkSandbox } from "./check-sandbox.ts";
import { checkBackup, checkStore } from "./check-store.ts";
import { type Finding, problem } from "./finding.ts";
import { countStore } from "./totals.ts";

interface StoreContents {
  readonly servers: readonly ServerRecord[];
  readonly backup: LastBackup | undefined;
  readonly objects: number;
}

const nothing: StoreContents = { servers: [], backup: undefined, objects: 0 };

export async function examine(invocation: Invocation, location: Location): Promise<Finding[]> {
  const findings: Finding[] = [];
  const add = async (check: string, work: () => Promise<readonly Finding[]> | readonly Finding[]) => {
    try {
      findings.push(...(await work()));
    } catch (error) {
      findings.push(failedCheck(check, error));
    }
  };
  const hasKey = Boolean(invocation.environment.STORE_SECRET_KEY);
  await add("node", () => [checkNode(), checkOpenFiles()]);
  const { findings: ofStore, canOpen } = await checkStore(invocation, location);
  findings.push(...ofStore);
  const isMissing = typeof location === "string" && ofStore.some(({ state }) => state === "problem");
  if (typeof location !== "string") await add("secret key", () => [checkClusterKey(hasKey)]);
  else if (!isMissing) {
    await add("disk", () => checkDisk(location));
    await add("permissions", () => checkPermissions(location, hasKey));
  }
  let contents = nothing;
  await add("store", async () => {
    if (canOpen) contents = await readContents(invocation);
    return [];
  });
  const { servers, backup, objects } = contents;
  await add("version", () => [checkVersions(servers)]);
  await add("ports", () => checkPorts(servers));
  await add("clock", () => checkPeerClocks(servers));
  if (canOpen) {
    const isCluster = typeof location !== "string";
    await add("backup", () => [checkBackup(backup, { objects, isCluster, now: Date.now() })]);
  }
  const given = invocation.options.text("tls-cert");
  const certificate = given === undefined ? undefined : resolve(invocation.directory, given);
  await add("certificates", () => checkCertificates(servers, certificate));
  await add("sandbox", () => checkSandbox(invocation));
  return findings;
}

async function readContents(invocation: Invocation): Promise<StoreContents> {
  return withData(invocation, { absent: "refuse" }, async ({ engine, documents, location }) => ({
    servers: await listServers(documents),
    backup: await readLastBackup(location, documents),
    objects: (await countStore(engine, 1000)).objects,
  }));
}

function failedCheck(check: string, error: unknown): Finding {
  return problem(check, `The check failed: ${errorMessage(error)}`, "For details set STORE_DEBUG=1.");
}
