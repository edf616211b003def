// Seeds: random keys from which a process derives the data keys of the objects that it writes. The
// master key seals a seed once for many objects, because sealing costs as much as encrypting a
// small body.
import { Buffer } from "node:buffer";
import type { Context } from "../context.ts";
import type { MasterKey } from "../master-keys.ts";
import { keyBytes, openKey, sealedKeyBytes, sealKey } from "./key-sealing.ts";

export interface KeySeed {
  readonly secret: Uint8Array;
  /** How the master keys sealed it. New objects and rotation use the same sealed bytes again. */
  readonly sealedBy: Map<string, Buffer>;
}

export interface KeySeeds {
  /** Returns the seed for a new object. */
  current(): KeySeed;
  /** Returns the seed sealed with a master key. */
  seal(seed: KeySeed, master: MasterKey): Buffer;
  /** Returns a seed that was opened before with this master key. */
  opened(masterKey: string, sealed: Uint8Array): KeySeed | undefined;
  open(master: MasterKey, sealed: Uint8Array): KeySeed;
}

/** One key per process and hour, or for this many objects. Fewer objects share a key that leaks. */
const maxAgeMilliseconds = 3_600_000;
const maxObjects = 1_000_000;
const maxOpened = 1024;
/** The first byte of a sealed seed, which also makes it longer than a sealed data key. */
const form = 1;

export function isSealedSeed(sealed: Uint8Array): boolean {
  return sealed.length === 1 + sealedKeyBytes && sealed[0] === form;
}

export function createKeySeeds(context: Pick<Context, "randomBytes" | "now">): KeySeeds {
  let current: { readonly seed: KeySeed; readonly created: number; objects: number } | undefined;
  const opened = new Map<string, KeySeed>();
  return {
    current() {
      const now = context.now();
      if (
        current === undefined ||
        current.objects >= maxObjects ||
        Math.abs(now - current.created) >= maxAgeMilliseconds
      ) {
        const seed = { secret: Buffer.from(context.randomBytes(keyBytes)), sealedBy: new Map() };
        current = { seed, created: now, objects: 0 };
      }
      current.objects++;
      return current.seed;
    },
    seal(seed, master) {
      const found = seed.sealedBy.get(master.id);
      if (found !== undefined) return found;
      const sealed = sealKey(context, master, seed.secret, purpose(master));
      const withForm = Buffer.concat([Buffer.of(form), sealed]);
      seed.sealedBy.set(master.id, withForm);
      return withForm;
    },
    opened: (masterKey, sealed) => opened.get(nameOf(masterKey, sealed)),
    open(master, sealed) {
      const secret = openKey(master, sealed.subarray(1), purpose(master));
      const seed = { secret, sealedBy: new Map([[master.id, Buffer.from(sealed)]]) };
      // Objects that were written together are often read together, so a full cache starts again.
      if (opened.size >= maxOpened) opened.clear();
      opened.set(nameOf(master.id, sealed), seed);
      return seed;
    },
  };
}

function nameOf(masterKey: string, sealed: Uint8Array): string {
  return masterKey + Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length).toString("latin1");
}

function purpose({ id }: MasterKey): string {
  return `store key seed ${id}`;
}
