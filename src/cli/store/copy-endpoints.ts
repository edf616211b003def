// The two sides of a copy: each a folder or a cluster, named by an option or by what commands here work on.
import { isAbsolute, resolve } from "node:path";
import { type ClusterLocation, type Location, schemeOf } from "../../model/location.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { unknownScheme } from "../framework/path-argument.ts";
import { checkDirectory, requireData } from "./open-store.ts";
import { checkPlace, storeLocation } from "./store-location.ts";

type Side = "from" | "to";

export interface CopyPlaces {
  readonly from: Location;
  readonly to: Location;
}

export async function copyPlaces(invocation: Invocation): Promise<CopyPlaces> {
  const from = namedPlace(invocation, "from");
  const to = namedPlace(invocation, "to");
  if (from === undefined && to === undefined) {
    throw usageError("store copy needs at least one side: --from PLACE or --to PLACE", [
      "For example: store copy --from .store --to /mnt/large/store",
    ]);
  }
  const { options } = invocation;
  const stray = (["data", "records", "blobs"] as const).find((name) => options.text(name) !== undefined);
  if (from !== undefined && to !== undefined && stray !== undefined) {
    throw usageError(`--${stray} says nothing here: both sides are named by --from and --to.`);
  }
  const places = {
    from: from ?? (await storeLocation(invocation)),
    to: to ?? (await storeLocation(invocation)),
  };
  checkSide(invocation, places, "from");
  checkSide(invocation, places, "to");
  return places;
}

function namedPlace({ options, directory }: Invocation, side: Side): Location | undefined {
  const place = options.text(side);
  const blobs = options.text(`${side}-blobs`);
  if (place === undefined) {
    if (blobs === undefined) return undefined;
    throw usageError(`--${side}-blobs needs --${side} postgres://… beside it.`);
  }
  if (place === "") throw usageError(`--${side} needs a folder or postgres://…, but is empty.`);
  const scheme = place === "memory:" ? undefined : schemeOf(place);
  if (scheme === undefined || isAbsolute(place)) {
    if (blobs !== undefined) {
      throw usageError(`--${side}-blobs goes with postgres://…, and --${side} names a folder.`);
    }
    return place === "memory:" ? place : resolve(directory, place);
  }
  if (!/^postgres(ql)?:$/.test(scheme)) {
    throw unknownScheme(`--${side}`, scheme, "a folder or the records of a cluster, postgres://…");
  }
  checkPlace(`--${side}`, "records", place);
  if (blobs === undefined) {
    throw usageError(`--${side} names the records of a cluster, but not where its bytes lie.`, [
      `Say that, too: --${side}-blobs s3://key:secret@host:port/bucket or file:///folder`,
    ]);
  }
  checkPlace(`--${side}-blobs`, "blobs", blobs);
  return { records: place, blobs } satisfies ClusterLocation;
}

function checkSide(invocation: Invocation, places: CopyPlaces, side: Side): void {
  const place = places[side];
  if (place === "memory:") throw new CommandError("What is only in memory cannot be copied from or to.");
  if (typeof place !== "string") return;
  const mustBe = side === "from" || invocation.options.flag("verify");
  if (mustBe) requireData(invocation, place);
  else checkDirectory(invocation, place, "create");
}
