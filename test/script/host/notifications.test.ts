// Events for a script without a notification handler: reported as a failed delivery, not as a stack.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findHandlers } from "../../../src/script/host/handlers.ts";
import type { NotificationMessage } from "../../../src/script/host/messages.ts";
import { handleAll } from "../../../src/script/host/notifications.ts";

const event = {
  ...{ id: "1", name: "s3:ObjectCreated:Put", bucket: "photos", key: "a", time: 0, sequencer: "1" },
} as unknown as NotificationMessage;

test("events for a script or a class without a notification handler fail without a logged stack", async (t) => {
  const logged = t.mock.method(console, "error", () => {});
  const context = { waitUntil() {} } as never;
  class Entry {
    fetch(): void {}
  }
  for (const exported of [{ fetch() {} }, Entry]) {
    const handlers = findHandlers("photos", exported, {} as never);
    const { handled, error } = await handleAll(handlers, {} as never, context, [event, event]);
    assert.deepEqual(handled, []);
    assert.match(error!, /has no notification handler/);
  }
  assert.equal(logged.mock.callCount(), 0);
});
