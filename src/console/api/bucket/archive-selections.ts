// Selections of objects that wait for their download. Everyone who may view a bucket can store them,
// so their number and size are bounded, for each user and in all: the oldest make room.
import { randomBytes } from "node:crypto";
import type { Documents } from "../../../engine/records.ts";
import { isFields } from "../../../model/shape.ts";
import { parseDocument } from "../../../model/stored-document.ts";
import { hashSecret } from "../../auth/tokens.ts";

export interface Selection {
  readonly bucket: string;
  /** Folder of the page; left out of the names in the archive. */
  readonly base: string;
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export interface Selections {
  /** Stores the selection for a user. Returns the secret id with which it is downloaded. */
  add(owner: string, selection: Omit<Selection, "expires">): Promise<string>;
  /** Undefined if the id is unknown or has expired. */
  find(id: string): Promise<Selection | undefined>;
}

/** Size of one selection. The page selects at most 1,000 objects, most of whose keys are short. */
export const maxSelectionBytes = 256 * 1024;
/** A download begins right after its selection is stored, so only a user's newest are needed. */
export const selectionsOfUser = { count: 100, bytes: 1024 * 1024 };
export const selectionsOfAll = { count: 2000, bytes: 32 * 1024 * 1024 };
export const selectionLifetime = 3600 * 1000;

/** What the index has of a selection, so that making room reads no selection. */
interface Entry {
  readonly id: string;
  readonly owner: string;
  readonly bytes: number;
  readonly expires: number;
}

const kind = "console archive";
const indexKind = "console archive index";
const indexName = "all";
const ownerLength = 16;
const idShape = /^[A-Za-z0-9_-]{22}$/;

export function createSelections(documents: Documents, now: () => number): Selections {
  /** Changes of the index wait for each other, because each retry would read all of it again. */
  let previous: Promise<unknown> = Promise.resolve();

  async function addEntry(entry: Entry): Promise<void> {
    for (;;) {
      const index = await documents.get(indexKind, indexName);
      const { kept, dropped } = dropOldest(index === undefined ? [] : parseIndex(index.text), entry, now());
      // Deleted before they leave the index: after a crash, no selection is without its entry.
      for (const { id } of dropped) await documents.delete(kind, id);
      const text = JSON.stringify([...kept, entry]);
      if ((await documents.put(indexKind, indexName, text, index?.revision)) === "committed") return;
    }
  }

  return {
    async add(owner, given) {
      const id = randomBytes(16).toString("base64url");
      const selection: Selection = { ...given, expires: now() + selectionLifetime };
      const text = JSON.stringify(selection);
      const entry = {
        id,
        owner: hashSecret(owner).slice(0, ownerLength),
        bytes: Buffer.byteLength(text),
        expires: selection.expires,
      };
      const added = previous.then(async () => {
        await addEntry(entry);
        await documents.put(kind, id, text, undefined);
      });
      previous = added.catch(() => {});
      await added;
      return id;
    },
    async find(id) {
      const document = idShape.test(id) ? await documents.get(kind, id) : undefined;
      if (document === undefined) return undefined;
      const selection = parseDocument(document.text, "A selection of objects", isSelection);
      return selection.expires > now() ? selection : undefined;
    },
  };
}

/** Keeps the newest selections that have not expired and leave room for the added one. */
function dropOldest(entries: readonly Entry[], added: Entry, now: number) {
  const own = createAllowance(selectionsOfUser, added);
  const all = createAllowance(selectionsOfAll, added);
  const isKept = ({ owner, bytes, expires }: Entry) =>
    expires > now && (owner !== added.owner || own.take(bytes)) && all.take(bytes);
  const kept = new Set([...entries].reverse().filter(isKept));
  return {
    kept: entries.filter((entry) => kept.has(entry)),
    dropped: entries.filter((entry) => !kept.has(entry)),
  };
}

function createAllowance(max: { readonly count: number; readonly bytes: number }, added: Entry) {
  let [count, bytes] = [1, added.bytes];
  return {
    take(size: number): boolean {
      if (count + 1 > max.count || bytes + size > max.bytes) return false;
      count++;
      bytes += size;
      return true;
    },
  };
}

function parseIndex(text: string): readonly Entry[] {
  return parseDocument(text, "The index of selections", (value): value is readonly Entry[] => {
    return Array.isArray(value) && value.every(isEntry);
  });
}

function isEntry(value: unknown): value is Entry {
  if (!isFields(value)) return false;
  const { id, owner, bytes, expires } = value;
  return [id, owner].every((one) => typeof one === "string") && [bytes, expires].every(Number.isFinite);
}

function isSelection(value: unknown): value is Selection {
  if (!isFields(value)) return false;
  const { bucket, base, keys, prefixes, expires } = value;
  const isTexts = (list: unknown) => Array.isArray(list) && list.every((one) => typeof one === "string");
  return (
    [bucket, base].every((one) => typeof one === "string") &&
    isTexts(keys) &&
    isTexts(prefixes) &&
    Number.isFinite(expires)
  );
}
