// The pairs of ports on which the contracts of ports and engine run, newly created for each test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Blobs } from "../../src/engine/blobs.ts";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { EventBoundOptions } from "../../src/engine/event-bound.ts";
import type { Records } from "../../src/engine/records.ts";
import { openLocal } from "../../src/local/open.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { createEncryptionKeys } from "../../src/secrets/encryption-keys.ts";

export interface Ports {
  readonly records: Records;
  readonly blobs: Blobs;
}

export interface EngineOptions {
  readonly now?: () => number;
  readonly openUploads?: number;
  readonly encryption?: "always";
  readonly eventBound?: EventBoundOptions;
}

/** Seals the master keys of the engines in tests. */
export const testSecretKey = Buffer.alloc(32, 7);

export interface PortPair {
  readonly name: "memory" | "local" | "local, committed by another" | "cluster";
  open(t: TestContext): Promise<Ports>;
  /** Opens an engine, which closes its ports when it is closed. */
  openEngine(t: TestContext, options?: EngineOptions): Promise<{ engine: Engine } & Ports>;
}

export const portPairs: readonly PortPair[] = [
  pair("memory", async () => ({
    ports: { records: createMemoryRecords(), blobs: createMemoryBlobs() },
    remove: async () => {},
  })),
  pair("local", async () => {
    const directory = await mkdtemp(join(tmpdir(), "store-test-"));
    const remove = () => rm(directory, { recursive: true, force: true });
    return { ports: await openLocal(directory), remove };
  }),
];

/** Ports that send their commits to another opener of the directory, as between processes. */
export const guestPair: PortPair = pair("local, committed by another", async () => {
  const directory = await mkdtemp(join(tmpdir(), "store-test-"));
  const other = await openLocal(directory);
  await other.commitForOthers();
  const remove = async () => {
    await other.records.close();
    await other.blobs.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { ports: await openLocal(directory), remove };
});

export function pair(
  name: PortPair["name"],
  make: () => Promise<{ ports: Ports; remove: () => Promise<void> }>,
): PortPair {
  return {
    name,
    async open(t) {
      const { ports, remove } = await make();
      t.after(async () => {
        await ports.records.close();
        await ports.blobs.close();
        await remove();
      });
      return ports;
    },
    async openEngine(t, options = {}) {
      const { ports, remove } = await make();
      const { encryption: encrypt, ...others } = options;
      const masterKeys = createEncryptionKeys(ports.records.documents, () => testSecretKey, options.now);
      const engine = createEngine({ ...ports, ...others, encryption: { masterKeys, encrypt } });
      t.after(async () => {
        await engine.close();
        await remove();
      });
      return { engine, ...ports };
    },
  };
}
