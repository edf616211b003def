// Parses the source and the target of a copy: folders or clusters. Default: the default store.
import { isAbsolute, resolve } from "node:path";
import { type ClusterLocation, type Location, parseScheme } from "../../model/names/location.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { unknownScheme } from "../framework/path-argument.ts";
import { checkDirectory, requireData } from "./open-store.ts";
import { checkClusterUrl, storeLocation } from "./store-location.ts";

type Side = "from" | "to";

export interface CopyEndpoints {
  readonly from: Location;
  readonly to: Location;
}

export async function resolveCopyEndpoints(invocation: Invocation): Promise<CopyEndpoints> {
  const from = parseEndpoint(invocation, "from");
  const to = parseEndpoint(invocation, "to");
  if (from === undefined && to === undefined) {
    throw usageError("store copy needs at least one of --from LOCATION and --to LOCATION", [
      "For example: store copy --from .store --to /mnt/large/store",
    ]);
  }
  const { options } = invocation;
  const stray = (["data", "records", "blobs"] as const).find((name) => options.text(name) !== undefined);
  if (from !== undefined && to !== undefined && stray !== undefined) {
    throw usageError(
      `--${stray} has no effect here, because --from and --to name both stores. Leave it out.`,
    );
  }
  const endpoints = {
    from: from ?? (await storeLocation(invocation)),
    to: to ?? (await storeLocation(invocation)),
  };
  checkSide(invocation, endpoints, "from");
  checkSide(invocation, endpoints, "to");
  return endpoints;
}

function parseEndpoint({ options, directory }: Invocation, side: Side): Location | undefined {
  const text = options.text(side);
  const blobs = options.text(`${side}-blobs`);
  if (text === undefined) {
    if (blobs === undefined) return undefined;
    throw usageError(`--${side}-blobs also needs --${side} postgres://…`);
  }
  if (text === "") throw usageError(`--${side} needs a folder or postgres://…, but is empty.`);
  const scheme = text === "memory:" ? undefined : parseScheme(text);
  if (scheme === undefined || isAbsolute(text)) {
    if (blobs !== undefined) {
      throw usageError(`--${side}-blobs is only for postgres://…, but --${side} names a folder.`);
    }
    return text === "memory:" ? text : resolve(directory, text);
  }
  if (!/^postgres(ql)?:$/.test(scheme)) {
    throw unknownScheme(`--${side}`, scheme, "a folder or the records of a cluster, postgres://…");
  }
  checkClusterUrl(`--${side}`, "records", text);
  if (blobs === undefined) {
    throw usageError(`--${side} names the records of a cluster, but not the location of its bytes.`, [
      `Add: --${side}-blobs s3://key:secret@host:port/bucket or file:///folder`,
    ]);
  }
  checkClusterUrl(`--${side}-blobs`, "blobs", blobs);
  return { records: text, blobs } satisfies ClusterLocation;
}

function checkSide(invocation: Invocation, endpoints: CopyEndpoints, side: Side): void {
  const location = endpoints[side];
  if (location === "memory:") throw new CommandError("A store in memory cannot be copied.");
  if (typeof location !== "string") return;
  const mustExist = side === "from" || invocation.options.flag("verify");
  if (mustExist) requireData(invocation, location);
  else checkDirectory(invocation, location, "create");
}
