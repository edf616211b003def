// Packed changes are unpacked unchanged and in order.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WireChange, WireObject } from "../../../src/local/commit/change.ts";
import { packChanges, unpackChanges } from "../../../src/local/commit/change-codec.ts";

const put: WireObject = {
  kind: "put object",
  key: Buffer.from("folder/ключ\u0000"),
  version: "0123456789abcdef".repeat(2),
  size: 2 ** 40 + 1,
  record: '[1,"folder/ключ\\u0000🔑"]',
  inline: Buffer.from([0, 255, 1]),
  blob: undefined,
  stored: undefined,
  manifest: undefined,
};

const changes: Record<string, WireChange> = {
  "a small put": { checks: [], mutations: [put], protection: undefined, onlyFreesSpace: false },
  "a put of an empty body": {
    checks: [],
    mutations: [{ ...put, size: 0, inline: Buffer.alloc(0) }],
    protection: undefined,
    onlyFreesSpace: false,
  },
  "a conditional put": {
    checks: [{ kind: "object", key: put.key, version: undefined }],
    mutations: [put],
    protection: undefined,
    onlyFreesSpace: false,
  },
  "a put of a blob": {
    checks: [],
    mutations: [{ ...put, inline: undefined, blob: "blob", stored: 5 }],
    protection: undefined,
    onlyFreesSpace: false,
  },
  "a put of parts": {
    checks: [],
    mutations: [{ ...put, inline: undefined, manifest: "parts" }],
    protection: undefined,
    onlyFreesSpace: false,
  },
  "a put with an event": {
    checks: [],
    mutations: [put, { kind: "add event", rule: "rule", event: "event", ifExists: undefined }],
    protection: undefined,
    onlyFreesSpace: false,
  },
  "a delete": {
    checks: [],
    mutations: [{ kind: "delete object", key: put.key }],
    protection: undefined,
    onlyFreesSpace: true,
  },
  "a put into a bucket with versions": {
    checks: [{ kind: "version", key: put.key, version: put.version, text: "record" }],
    mutations: [put],
    protection: { versioning: "on", lockRules: "" },
    onlyFreesSpace: false,
  },
  "a copy of a version": {
    checks: [],
    mutations: [
      { kind: "put copy", key: put.key, version: "a", size: 3, record: "record", of: "b" },
      { kind: "put marker", key: put.key, version: "c", record: "record" },
      { kind: "delete version", key: put.key, version: "d" },
    ],
    protection: { versioning: "on", lockRules: "" },
    onlyFreesSpace: false,
  },
  "an empty change": { checks: [], mutations: [], protection: undefined, onlyFreesSpace: true },
};

/** Converts bytes to arrays, so that a Buffer equals a Uint8Array. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

for (const [what, change] of Object.entries(changes)) {
  test(`${what} is unchanged after packing and unpacking`, () => {
    assert.deepEqual(plain(unpackChanges(packChanges([change]))), plain([change]));
  });
}

test("many changes are unpacked in order, also from the middle of a larger buffer", () => {
  const all = Array.from(
    { length: 50 },
    (_, i) => Object.values(changes)[i % Object.values(changes).length]!,
  );
  const packed = packChanges(all);
  const among = Buffer.concat([Buffer.alloc(7, 1), packed, Buffer.alloc(5, 1)]);
  assert.deepEqual(plain(unpackChanges(among.subarray(7, -5))), plain(all));
  assert.deepEqual(unpackChanges(packChanges([])), []);
});
