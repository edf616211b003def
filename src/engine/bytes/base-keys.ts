// Base keys: random keys from which a process derives the data keys of the objects that it writes. The
// master key seals a base key once for many objects, because sealing costs as much as encrypting a
// small body.
import type { Context } from "../context.ts";
import type { MasterKey } from "../master-keys.ts";
import { keyBytes, openKey, sealedKeyBytes, sealKey } from "./key-sealing.ts";

export interface BaseKey {
  readonly secret: Uint8Array;
  /** How the master keys sealed it. New objects and rotation use the same sealed bytes again. */
  readonly sealedBy: Map<string, Buffer>;
}

export interface BaseKeys {
  /** Returns the base key for a new object. */
  current(): BaseKey;
  /** Returns the base key sealed with a master key. */
  seal(base: BaseKey, master: MasterKey): Buffer;
  /** Returns a base key that was opened before with this master key. */
  opened(masterKey: string, sealed: Uint8Array): BaseKey | undefined;
  open(master: MasterKey, sealed: Uint8Array): BaseKey;
}

/** One key per process and hour, or for this many objects. Fewer objects share a key that leaks. */
const maxAgeMilliseconds = 3_600_000;
const maxObjects = 1_000_000;
const maxOpened = 1024;
/** The first byte of a sealed base key, which also makes it longer than a sealed data key. */
const form = 1;

export function isSealedBaseKey(sealed: Uint8Array): boolean {
  return sealed.length === 1 + sealedKeyBytes && sealed[0] === form;
}

export function createBaseKeys(context: Pick<Context, "randomBytes" | "now">): BaseKeys {
  let current: { readonly base: BaseKey; readonly created: number; objects: number } | undefined;
  const opened = new Map<string, BaseKey>();
  return {
    current() {
      const now = context.now();
      if (
        current === undefined ||
        current.objects >= maxObjects ||
        Math.abs(now - current.created) >= maxAgeMilliseconds
      ) {
        const base = { secret: Buffer.from(context.randomBytes(keyBytes)), sealedBy: new Map() };
        current = { base, created: now, objects: 0 };
      }
      current.objects++;
      return current.base;
    },
    seal(base, master) {
      const found = base.sealedBy.get(master.id);
      if (found !== undefined) return found;
      const sealed = sealKey(context, master, base.secret, purpose(master));
      const withForm = Buffer.concat([Buffer.of(form), sealed]);
      base.sealedBy.set(master.id, withForm);
      return withForm;
    },
    opened: (masterKey, sealed) => opened.get(nameOf(masterKey, sealed)),
    open(master, sealed) {
      const secret = openKey(master, sealed.subarray(1), purpose(master));
      const base = { secret, sealedBy: new Map([[master.id, Buffer.from(sealed)]]) };
      // Objects that were written together are often read together, so a full cache starts again.
      if (opened.size >= maxOpened) opened.clear();
      opened.set(nameOf(master.id, sealed), base);
      return base;
    },
  };
}

function nameOf(masterKey: string, sealed: Uint8Array): string {
  return masterKey + Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length).toString("latin1");
}

function purpose({ id }: MasterKey): string {
  return `store base key ${id}`;
}
