// Opens the stores that a copy or a sync works on, each once, and decides whether a word is a path
// or an address.
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { toCommandError } from "../framework/failures.ts";
import { shellWord } from "../framework/shell-quote.ts";
import { type Locator, parseLocator } from "./locator.ts";
import { prefixAddress } from "./object-address.ts";
import type { OpenStore } from "./object-store.ts";
import { openData } from "./open-store.ts";
import { openRemoteStore } from "./remote/open-remote.ts";
import { chosenService, profileService, type Service } from "./remote/service.ts";

/** What a word may name besides a bucket: a path that exists, or also a new file. */
type Role = "existing" | "new file";

/** A source or target that exists as a kind; whether the file or object exists is not checked. */
export type Side =
  | { readonly kind: "path"; readonly path: string; readonly text: string }
  | { readonly kind: "stream"; readonly text: string }
  | ObjectSide;

export interface ObjectSide {
  readonly kind: "object";
  readonly store: OpenStore;
  readonly bucket: string;
  /** Key or prefix. */
  readonly key: string;
  /** As the user wrote it. */
  readonly text: string;
}

export interface Stores {
  /** "new file": a word may name a file that does not exist yet, in a folder that does. */
  resolve(text: string, role: Role): Promise<Side>;
  /** The data directory, if the files of a store are open: copies never touch it. */
  dataDirectory(): string | undefined;
}

/** Opens stores for `work` as they are needed, and closes them. */
export async function withStores<T>(
  invocation: Invocation,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const opened = new Map<string, Promise<OpenStore>>();
  const closers: (() => Promise<void> | void)[] = [];
  let directory: string | undefined;

  function openService({ endpoint }: Service): OpenStore {
    const { store, close } = openRemoteStore(endpoint);
    closers.push(close);
    return { engine: store, recordAudit: async () => {}, tidy: async () => {} };
  }

  async function openDefault(): Promise<OpenStore> {
    const service = await chosenService(invocation);
    if (service !== undefined) return openService(service);
    const data = await openData(invocation, { absent: "refuse" });
    closers.push(() => data.close());
    if (typeof data.location === "string" && data.location !== "memory:")
      directory = realpathSync(data.location);
    return data;
  }

  function open(profile: string | undefined): Promise<OpenStore> {
    const id = profile ?? "";
    const found = opened.get(id);
    if (found !== undefined) return found;
    const store =
      profile === undefined ? openDefault() : profileService(invocation, profile).then(openService);
    opened.set(id, store);
    return store;
  }

  const stores: Stores = {
    async resolve(text, role) {
      const locator = parseLocator(text);
      const side = locator.kind === "word" ? await resolveWord(invocation, { text, role, open }) : locator;
      if (side.kind !== "object") return { ...side, text };
      const { bucket, key } = side;
      return { kind: "object", store: await open(side.profile), bucket, key, text };
    },
    dataDirectory: () => directory,
  };
  try {
    return await work(stores);
  } finally {
    for (const close of closers) await close();
  }
}

interface Word {
  readonly text: string;
  readonly role: Role;
  open(profile: undefined): Promise<OpenStore>;
}

/** The bucket and the path are looked up: what exists is meant. Refuses a word that may be both. */
async function resolveWord(
  invocation: Invocation,
  { text, role, open }: Word,
): Promise<Exclude<Locator, { kind: "word" }>> {
  const { bucket, prefix } = prefixAddress(text);
  const path = resolve(invocation.directory, withoutPattern(text));
  const isPath = exists(path);
  const isBucket = await hasBucket(await open(undefined), bucket);
  const address = { kind: "object", profile: undefined, bucket, key: prefix } as const;
  if (isPath && isBucket) {
    throw usageError(`"${text}" is a path here, and "${bucket}" is also a bucket.`, [
      `For the path write: ${shellWord(`./${text}`)}`,
      `For the bucket write: ${shellWord(`s3://${text}`)}`,
    ]);
  }
  if (isBucket) return address;
  // A new file: its folder exists, and there is no bucket of this name.
  const isNewFile = role === "new file" && exists(dirname(path)) && basename(path) !== "";
  if (isPath || isNewFile) {
    // An existing file needs no words; a folder or a new file may be a mistyped bucket.
    if (!isPath || statSync(path).isDirectory())
      invocation.output.note(`Using the path ./${text}, because there is no bucket "${bucket}".`);
    return { kind: "path", path: `./${text}` };
  }
  throw new CommandError(`"${text}" is neither a path nor in a bucket: there is no bucket "${bucket}".`, {
    hint: [
      `Create the bucket: store bucket create ${bucket}`,
      `A path starts with a dot or a slash: ./${text}`,
    ],
  });
}

async function hasBucket({ engine }: OpenStore, bucket: string): Promise<boolean> {
  try {
    return (await engine.bucket(bucket, [])) !== undefined;
  } catch (error) {
    throw toCommandError(error, { bucket });
  }
}

/** The path before the first wildcard. */
function withoutPattern(text: string): string {
  const wildcard = text.search(/[*?[]/);
  return wildcard === -1 ? text : text.slice(0, text.lastIndexOf("/", wildcard) + 1) || ".";
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
