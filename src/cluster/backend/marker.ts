// The marker of a shelf: a random id that lies on it under the name `store-shelf`. A shelf without one was never set
// up, or is not there: a mount that is away must not be taken for an empty store.
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "../../model/errors.ts";

/** Made where there is none yet, by whoever sets a store up; everybody else expects it. */
export type MarkerMode = "make" | "expect";

export interface StoredMarker {
  /** Undefined when there is none. */
  read(): Promise<string | undefined>;
  /** Makes one, unless another was faster. */
  make(): Promise<void>;
}

const maxEmptyReads = 40;
const emptyPauseMilliseconds = 50;

/** The shelf's id. */
export async function openMarker(marker: StoredMarker, mode: MarkerMode, where: string): Promise<string> {
  let text = await marker.read();
  if (text === undefined && mode === "make") {
    await marker.make();
    text = await marker.read();
  }
  // Another machine may be about to write it.
  for (let tries = 0; text === "" && tries < maxEmptyReads; tries++) {
    await pause(emptyPauseMilliseconds);
    text = await marker.read();
  }
  if (text === undefined) throw notSetUpError(where);
  const id = /^([0-9a-f]{32})\n?$/.exec(text)?.[1];
  if (id !== undefined) return id;
  throw new StoreError("ServiceUnavailable", {
    detail: `"store-shelf" in ${where} does not hold the id of a store: restore it, or set up a new place.`,
  });
}

function notSetUpError(where: string): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail: `${where} holds no bytes of a store: check that it is the right place, and mounted if it is a directory. A new one is set up with "store migrate".`,
  });
}
