// Globals of the Workers platform other than fetch, streams and crypto.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ErrorEvent } from "../../../src/script/globals/event-classes.ts";
import type { Navigator } from "../../../src/script/globals/navigator.ts";
import type { Scheduler } from "../../../src/script/globals/scheduler.ts";
import "./installed.ts";

interface Scope {
  readonly self: object;
  readonly scheduler: Scheduler;
  readonly navigator: Navigator;
  readonly URLPattern: new (
    pattern: object,
  ) => { exec(url: string): { readonly pathname: { readonly groups: object } } | null };
  readonly WebSocketPair: new () => object;
  addEventListener(type: string, listener: unknown, options?: object): void;
  removeEventListener(type: string, listener: unknown): void;
  dispatchEvent(event: Event): boolean;
  reportError(error: unknown): void;
}
const scope = globalThis as unknown as Scope;

test("self is the global scope of a script, and all documented global classes and functions are defined", () => {
  assert.equal(scope.self, globalThis);
  const classes = [
    ...["ExtendableEvent", "FetchEvent", "ScheduledEvent", "CustomEvent", "ErrorEvent", "CloseEvent"],
    ...["PromiseRejectionEvent", "MessageEvent", "File", "FormData", "Blob", "URLPattern", "Iterator"],
    ...["CompressionStream", "TextDecoderStream", "MessageChannel", "CryptoKey", "WebSocketPair"],
    ...["structuredClone", "queueMicrotask", "btoa", "atob", "reportError", "setImmediate"],
  ];
  const missing = classes.filter((name) => typeof Reflect.get(globalThis, name) !== "function");
  assert.deepEqual(missing, []);
  assert.equal(Object.keys(globalThis).includes("self"), false, "not enumerable");
});

test("scheduler.wait resolves after the delay, or rejects with the reason of an aborted signal", async () => {
  const started = performance.now();
  assert.equal(await scope.scheduler.wait(20), undefined);
  assert.ok(performance.now() - started >= 19);
  await scope.scheduler.wait();
  const abort = new AbortController();
  const waiting = scope.scheduler.wait(3_600_000, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await assert.rejects(waiting, /^Error: enough$/);
  await assert.rejects(scope.scheduler.wait(1, { signal: abort.signal }), /^Error: enough$/);
});

test("a script can add, call and remove listeners for custom events on its global scope", () => {
  const seen: string[] = [];
  const listener = ({ type }: Event) => seen.push(type);
  scope.addEventListener("custom", listener);
  scope.addEventListener("custom", { handleEvent: () => seen.push("object") });
  assert.equal(scope.dispatchEvent(new Event("custom")), true);
  scope.removeEventListener("custom", listener);
  scope.dispatchEvent(new Event("custom"));
  assert.deepEqual(seen, ["custom", "object", "object"]);
  assert.throws(() => scope.addEventListener("fetch", 1), /takes a function or an object with a handleEvent/);
});

test("addEventListener for fetch supports once and signal, and adds each listener only once", () => {
  const seen: string[] = [];
  const abort = new AbortController();
  const twice = () => seen.push("kept");
  scope.addEventListener("fetch", () => seen.push("once"), { once: true });
  scope.addEventListener("fetch", () => seen.push("until"), { signal: abort.signal });
  scope.addEventListener("fetch", twice);
  scope.addEventListener("fetch", twice);
  scope.dispatchEvent(new Event("fetch"));
  abort.abort();
  scope.addEventListener("fetch", () => seen.push("never"), { signal: abort.signal });
  scope.dispatchEvent(new Event("fetch"));
  scope.removeEventListener("fetch", twice);
  scope.dispatchEvent(new Event("fetch"));
  assert.deepEqual(seen, ["once", "until", "kept", "kept"]);
});

test("reportError calls the error listeners", () => {
  const seen: unknown[] = [];
  const listener = (event: ErrorEvent) => {
    seen.push(event.error, event.message);
    event.preventDefault();
  };
  scope.addEventListener("error", listener);
  const error = new RangeError("reported");
  scope.reportError(error);
  scope.removeEventListener("error", listener);
  assert.deepEqual(seen, [error, "reported"]);
});

test("URLPattern matches URLs", () => {
  const pattern = new scope.URLPattern({ pathname: "/users/:id" });
  assert.deepEqual({ ...pattern.exec("https://example.com/users/7")?.pathname.groups }, { id: "7" });
  assert.equal(pattern.exec("https://example.com/other"), null);
  assert.equal(scope.URLPattern, scope.URLPattern);
});

test("navigator has the user agent Store, a language and the number of cores", () => {
  const { userAgent, hardwareConcurrency, language } = scope.navigator;
  assert.deepEqual([userAgent, language], ["Store", "en"]);
  assert.ok(hardwareConcurrency >= 1);
  assert.equal(typeof scope.navigator.sendBeacon, "function");
});

test("new WebSocketPair throws an error that says that Store does not support it", () => {
  assert.throws(() => new scope.WebSocketPair(), /Store does not support WebSocketPair/);
});
