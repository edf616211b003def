// The bound of waiting events holds while they are written, without a deliverer that drops them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBoundOptions } from "../../src/engine/event-bound.ts";
import { portPairs } from "../support/ports.ts";

const bucket = "photos";
const rule = {
  id: "upload",
  ...{ events: ["s3:ObjectCreated:*"], prefix: "", suffix: "" },
  target: { kind: "script", name: "resize" },
} as const;

for (const pair of portPairs) {
  const open = async (t: Parameters<typeof pair.open>[0], eventBound: EventBoundOptions) => {
    const { engine } = await pair.openEngine(t, { eventBound });
    await engine.createBucket(bucket);
    await engine.changeSettings(bucket, { notifications: [rule] });
    return engine;
  };

  test(`many events that are written at once never exceed their bound by more than a step in ${pair.name}`, async (t) => {
    const bound = { events: 50, bytes: 2 ** 30 };
    const engine = await open(t, { bound, step: { events: 10, bytes: 2 ** 30 } });
    const writers = 4;
    let most = 0;
    const write = async (writer: number) => {
      for (let i = 0; i < 60; i++) {
        await engine.put(bucket, `${writer}/${i}`, Buffer.from("x"));
        most = Math.max(most, (await engine.eventUsage(bucket)).events);
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    assert.ok(most >= 50 && most <= 50 + 2 * 10 + writers, `${most} events`);
    const [newest] = (await engine.waitingEvents(bucket, "upload", { events: 100, bytes: 2 ** 30 })).slice(
      -1,
    );
    assert.match(newest!.event!.key, /\/59$/, "the oldest were dropped");
  });

  test(`long events never exceed the bound of their bytes by more than a step in ${pair.name}`, async (t) => {
    const bound = { events: 1000, bytes: 40_000 };
    const engine = await open(t, { bound, step: { events: 1000, bytes: 8000 } });
    for (let i = 0; i < 150; i++) {
      await engine.put(bucket, `${i}${"a".repeat(900)}`, Buffer.from("x"));
      const { bytes } = await engine.eventUsage(bucket);
      assert.ok(bytes <= 40_000 + 2 * 8000, `${bytes} bytes`);
    }
    assert.ok((await engine.eventUsage(bucket)).bytes > 20_000);
  });
}
