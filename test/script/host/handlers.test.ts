// Tests the forms in which a script may define its handlers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createScriptEvents } from "../../../src/script/globals/events.ts";
import { findHandlers } from "../../../src/script/host/handlers.ts";
import { createPendingWork } from "../../../src/script/host/pending-work.ts";
import { WorkerEntrypoint } from "../../../src/script/host/platform/entrypoints.ts";
import { listenerHandlers } from "../../../src/script/host/service-worker.ts";

const env = { NAME: "value" };
const context = () => createPendingWork().createContext();
const request = new Request("http://localhost/path");

async function fetchText(exported: unknown, ctx = context()): Promise<string> {
  const handlers = findHandlers("script", exported, createScriptEvents());
  return (await handlers.fetch!(request, env, ctx)).text();
}

class Entry extends WorkerEntrypoint {
  calls = 0;
  fetch(asked: Request): Response {
    this.calls++;
    return Response.json([new URL(asked.url).pathname, this.env.NAME, typeof this.ctx.waitUntil, this.calls]);
  }
}

test("a class that extends WorkerEntrypoint is instantiated for each event", async () => {
  const handlers = findHandlers("script", Entry, createScriptEvents());
  for (let i = 0; i < 2; i++) {
    const response = await handlers.fetch!(request, env, context());
    assert.deepEqual(await response.json(), ["/path", "value", "function", 1]);
  }
  assert.throws(() => handlers.scheduled!({} as never, env, context()), /class has no scheduled handler/);
});

test("an exported class without a base class receives context and env in its constructor", async () => {
  class Plain {
    readonly env: unknown;
    constructor(_: unknown, given: typeof env) {
      this.env = given.NAME;
    }
    fetch = async () => new Response(String(this.env));
  }
  assert.equal(await fetchText(Plain), "value");
});

test("fetch of an exported object, class instance or function is called with the export as this", async () => {
  class App {
    readonly #name = "private";
    fetch() {
      return new Response(this.#name);
    }
  }
  assert.equal(await fetchText(new App()), "private");
  const callable = Object.assign(() => {}, {
    greeting: "function",
    fetch(this: { greeting: string }) {
      return new Response(this.greeting);
    },
  });
  assert.equal(await fetchText(callable), "function");
  const router = { name: "router", fetch: () => new Response(router.name) };
  assert.equal(await fetchText({ ...router }), "router");
});

test("a default export that is not an object, class or function is refused", () => {
  for (const exported of [undefined, 1, "text", () => {}, null]) {
    assert.throws(
      () => findHandlers("script", exported, createScriptEvents()),
      /The script "script" must export its handlers by default/,
    );
  }
});

interface ListenedEvent {
  readonly request: Request;
  readonly cron: string;
  readonly scheduledTime: number;
  respondWith(response: unknown): void;
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  noRetry(): void;
}

function listening(listeners: Readonly<Record<string, readonly ((event: ListenedEvent) => unknown)[]>>) {
  const events = createScriptEvents();
  for (const [type, added] of Object.entries(listeners)) {
    for (const listener of added) events.scope.addEventListener(type, listener);
  }
  return listenerHandlers(events);
}

test("the first fetch listener that responds is used, and later listeners are not called", async () => {
  const called: string[] = [];
  const handlers = listening({
    fetch: [
      () => called.push("silent"),
      (event) => {
        event.passThroughOnException();
        event.respondWith(Promise.resolve(new Response(event.request.url)));
        assert.throws(() => event.respondWith(new Response()), { name: "InvalidStateError" });
      },
      () => called.push("late"),
    ],
  });
  assert.equal(await (await handlers.fetch!(request, env, context())).text(), request.url);
  assert.deepEqual(called, ["silent"]);
  assert.equal(handlers.scheduled, undefined);
});

test("a fetch event fails if no listener calls respondWith, and a late respondWith throws", async () => {
  let late: ListenedEvent | undefined;
  const handlers = listening({ fetch: [(event) => (late = event)] });
  assert.throws(() => handlers.fetch!(request, env, context()), /No fetch listener called event.respondWith/);
  assert.throws(() => late!.respondWith(new Response()), /called too late/);
});

test("an error thrown by a fetch listener reaches the caller", () => {
  const failing = listening({
    fetch: [
      () => {
        throw new RangeError("thrown");
      },
    ],
  });
  assert.throws(() => failing.fetch!(request, env, context()), /^RangeError: thrown$/);
});

test("a scheduled event ends only after all promises passed to waitUntil have settled", async () => {
  const seen: unknown[] = [];
  const handlers = listening({
    scheduled: [
      (event) => {
        event.noRetry();
        event.waitUntil(Promise.resolve().then(() => seen.push(event.cron, event.scheduledTime)));
      },
    ],
  });
  const event = { type: "scheduled", cron: "* * * * *", scheduledTime: 5, noRetry() {} } as const;
  await handlers.scheduled!(event, env, context());
  assert.deepEqual(seen, ["* * * * *", 5]);
  const failing = listening({ scheduled: [(given) => given.waitUntil(Promise.reject(new Error("failed")))] });
  await assert.rejects(Promise.resolve(failing.scheduled!(event, env, context())), /^Error: failed$/);
});

test("each event gets its own execution context", () => {
  const pending = createPendingWork();
  const [one, other] = [pending.createContext(), pending.createContext()];
  one.props.user = "a";
  assert.deepEqual(other.props, {});
  assert.throws(
    () => Reflect.get(one.exports, "default"),
    /Store does not have bindings of a script to its own/,
  );
});
