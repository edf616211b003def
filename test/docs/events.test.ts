// Checks docs/events.md: its message, its signature check, its handler and its list of events.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transform } from "esbuild";
import { formatMessage } from "../../src/events/message.ts";
import { formatSignature } from "../../src/events/webhook.ts";
import { eventNames } from "../../src/model/settings/notification.ts";
import { root } from "../cli/store.ts";

const page = readFileSync(join(root, "docs", "events.md"), "utf8");

function block(language: string): string {
  const [, text] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page)!;
  return text!;
}

async function load<T>(source: string): Promise<T> {
  return (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as T;
}

test("the message in docs/events.md equals the message that a webhook receives", () => {
  const id = "0123456789abcdef0123456789abcdef";
  const created = { size: 52_000, etag: "746308829575e17c3331bbcb00c0898b", version: id };
  const event = { id, name: "s3:ObjectCreated:Put", key: "holiday/one picture.jpg", created } as const;
  const time = Date.parse("2026-11-15T12:00:00.000Z");
  const sent = formatMessage({ bucket: "photos", rule: "hook" }, [{ entry: 1, event: { ...event, time } }]);
  const shown = JSON.parse(block("json")) as unknown;
  assert.deepEqual(JSON.parse(sent), shown);
});

test("the signature check in docs/events.md accepts only a signed, recent message", async () => {
  type Check = (header: string | undefined, body: string, secret: string, now?: number) => boolean;
  const { isFromStore } = await load<{ isFromStore: Check }>(block("js"));
  const header = formatSignature("secret", 1_763_208_000, Buffer.from("the body"));
  const now = 1_763_208_100_000;
  assert.equal(isFromStore(header, "the body", "secret", now), true);
  assert.equal(isFromStore(header, "another body", "secret", now), false);
  assert.equal(isFromStore(header, "the body", "another secret", now), false);
  assert.equal(isFromStore(header, "the body", "secret", now + 600_000), false);
  assert.equal(isFromStore(undefined, "the body", "secret", now), false);
});

test("the handler in docs/events.md logs each event and stores a log object", async (t) => {
  const { code } = await transform(block("ts"), { loader: "ts" });
  type Handler = { notification(event: object, env: object, ctx: object): Promise<void> };
  const { default: handlers } = await load<{ default: Handler }>(code);
  const [puts, waited]: [unknown[], unknown[]] = [[], []];
  const lines = t.mock.method(console, "log", () => {});
  const put = async (key: string) => void puts.push(key);
  const event = { id: "x", name: "s3:ObjectCreated:Put", bucket: "photos", key: "a" };
  await handlers.notification(
    event,
    { BUCKET: { put } },
    { waitUntil: (one: unknown) => void waited.push(one) },
  );
  assert.deepEqual([puts, waited.length], [["log/x"], 1]);
  assert.deepEqual(lines.mock.calls[0]?.arguments, ["s3:ObjectCreated:Put photos/a"]);
});

test("docs/events.md lists every event", () => {
  for (const name of eventNames) assert.ok(page.includes(`| \`${name}\` |`), name);
});
