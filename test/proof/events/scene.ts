// A server with a script that writes, a notification rule and its webhook receiver. Acknowledged
// and received events are bits in one byte per key: a million keys take a few megabytes.
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { EventRecord } from "../../events/receiver.ts";
import { descendantsOf, isAlive, until } from "../../script/inside.ts";
import { scriptScene } from "../../script/scene.ts";
import type { Server } from "../../script/server.ts";
import type { Random } from "../../support/random.ts";

const source = `
export default {
  async fetch(request, env) {
    const { put = [], remove = [] } = await request.json();
    await Promise.all(put.map((key) => env.BUCKET.put(key, "x")));
    if (remove.length > 0) await env.BUCKET.delete(remove);
    return new Response("done");
  },
};`;

export interface EventScene {
  start(): Promise<void>;
  /** Kills all processes of the server together, after this delay. */
  kill(milliseconds: number): Promise<void>;
  newKeys(count: number): readonly string[];
  /** `put` and `remove` return false if the server died before it answered. */
  put(keys: readonly string[]): Promise<boolean>;
  remove(keys: readonly string[]): Promise<boolean>;
  /** Waits until every acknowledged write was received as an event; throws after a long silence. */
  heardOf(acknowledged: number): Promise<void>;
  counts(): { readonly received: number; readonly twice: number; readonly refused: number };
}

/** Flags in the byte of a key. */
const bits = { wasPut: 1, wasRemoved: 2, heardOfPut: 4, heardOfRemoval: 8 } as const;
/** After this long without an event, no further event is expected. */
const silenceMilliseconds = 60_000;

export async function openEventScene(
  t: { after(end: () => unknown): void },
  random: Random,
): Promise<EventScene> {
  const scene = await scriptScene(t, source);
  let marks = new Uint8Array(1024);
  let keys = 0;
  const counts = { received: 0, twice: 0, refused: 0 };
  let lastHeard = performance.now();
  let server: Server | undefined;

  function mark(key: string, bit: number): boolean {
    const number = Number(key.slice(1));
    assert.ok(number < keys, `"${key}" was never written`);
    const isNew = (marks[number]! & bit) === 0;
    marks[number]! |= bit;
    return isNew;
  }

  function hear({ eventName, s3: { object } }: EventRecord): void {
    const bit = eventName.startsWith("ObjectCreated:") ? bits.heardOfPut : bits.heardOfRemoval;
    const isNew = mark(object.key, bit);
    counts.received++;
    if (!isNew) counts.twice++;
    const number = Number(object.key.slice(1));
    const isInOrder = bit === bits.heardOfPut || (marks[number]! & bits.heardOfPut) !== 0;
    assert.ok(isInOrder, `"${object.key}": the deletion event arrived before the creation event`);
    lastHeard = performance.now();
  }

  let failure: unknown;
  function answer(records: readonly EventRecord[], response: ServerResponse): void {
    const chance = random.below(100);
    if (chance === 0) {
      counts.refused++;
      response.writeHead(500).end();
      return;
    }
    try {
      for (const record of records) hear(record);
    } catch (error) {
      failure ??= error;
    }
    // The event was received, but the store sees a failed delivery.
    if (chance === 1) response.destroy();
    else response.writeHead(200).end();
  }
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The server was killed while sending.
      return;
    }
    const { Records } = JSON.parse(Buffer.concat(chunks).toString()) as { Records: EventRecord[] };
    answer(Records, response);
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const data = ["--data", `${scene.directory}/.store`];
  for (const args of [
    ["bucket", "create", "bucket"],
    ["bucket", "notify", "add", "bucket", "--webhook", url],
  ]) {
    const { code, stderr } = await scene.shell.run([...args, ...data]);
    assert.equal(code, 0, stderr);
  }

  async function ask(body: object, bit: number, of: readonly string[]): Promise<boolean> {
    try {
      const { status } = await server!.ask({ method: "POST", path: "/", body: JSON.stringify(body) });
      if (status !== 200) return false;
    } catch {
      return false;
    }
    for (const key of of) mark(key, bit);
    return true;
  }

  function missing(): string[] {
    const found: string[] = [];
    for (let number = 0; number < keys && found.length < 10; number++) {
      const state = marks[number]!;
      if ((state & bits.wasPut) !== 0 && (state & bits.heardOfPut) === 0) found.push(`k${number} was put`);
      if ((state & bits.wasRemoved) !== 0 && (state & bits.heardOfRemoval) === 0)
        found.push(`k${number} was removed`);
    }
    return found;
  }

  return {
    async start() {
      server = await scene.start("serve", { args: ["--webhook-allow", "127.0.0.1"] });
    },
    async kill(milliseconds) {
      await pause(milliseconds);
      const pids = [server!.pid, ...descendantsOf(server!.pid)];
      for (const pid of pids) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // The process already ended with its parent.
        }
      }
      await until(() => !pids.some(isAlive), "all processes of the server are gone");
    },
    newKeys(count) {
      const first = keys;
      keys += count;
      if (keys > marks.length) {
        const larger = new Uint8Array(2 * keys);
        larger.set(marks);
        marks = larger;
      }
      return Array.from({ length: count }, (_, i) => `k${first + i}`);
    },
    put: (of) => ask({ put: of }, bits.wasPut, of),
    remove: (of) => ask({ remove: of }, bits.wasRemoved, of),
    async heardOf(acknowledged) {
      lastHeard = performance.now();
      for (;;) {
        if (failure !== undefined) throw failure;
        const lost = missing();
        if (lost.length === 0) return;
        const isSilent = performance.now() - lastHeard > silenceMilliseconds;
        assert.ok(
          !isSilent,
          `of ${acknowledged} acknowledged writes, some were never delivered as events: ${lost.join(", ")}`,
        );
        await pause(20);
      }
    },
    counts: () => counts,
  };
}
