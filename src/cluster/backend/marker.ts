// The marker of a blob backend: a random id in the file or object `store-shelf`. A location without
// a marker was never set up or is not mounted, and must not be mistaken for an empty store.
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "../../model/errors.ts";

/** "make": setup creates a missing marker. "expect": a missing marker is an error. */
export type MarkerMode = "make" | "expect";

export interface StoredMarker {
  /** Returns undefined if there is no marker. */
  read(): Promise<string | undefined>;
  /** Creates the marker, unless another process has created it in the meantime. */
  make(): Promise<void>;
}

const maxEmptyReads = 40;
const emptyPauseMilliseconds = 50;

/** Returns the backend's id. */
export async function openMarker(marker: StoredMarker, mode: MarkerMode, where: string): Promise<string> {
  let text = await marker.read();
  if (text === undefined && mode === "make") {
    await marker.make();
    text = await marker.read();
  }
  // Another machine may have created the file without having written the id yet.
  for (let tries = 0; text === "" && tries < maxEmptyReads; tries++) {
    await pause(emptyPauseMilliseconds);
    text = await marker.read();
  }
  if (text === undefined) throw notSetUpError(where);
  const id = /^([0-9a-f]{32})\n?$/.exec(text)?.[1];
  if (id !== undefined) return id;
  throw new StoreError("ServiceUnavailable", {
    detail: `"store-shelf" in ${where} does not hold the id of a store: restore it, or set up a new location.`,
  });
}

function notSetUpError(where: string): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail: `${where} is not set up as a blob backend: check the location and, if it is a directory, that it is mounted. To set up a new one, run "store migrate".`,
  });
}
