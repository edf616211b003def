// Calls the binding with arguments of every kind a script could pass: each call returns a value or
// throws a documented TypeError, RangeError or StoreError. The input is the seed of the call.

import { bindBucket } from "../../../src/binding/bind.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { isStoreFault, StoreError } from "../../../src/model/errors.ts";
import { openEngine } from "../../../src/open.ts";
import type { StoreBucket } from "../../../src/types.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { holds, kindOf, type Runner, type Target } from "./target.ts";

/** Thrown by hostile argument values; the binding must pass it through unchanged. */
class Own extends Error {}

const texts = [
  "",
  "key",
  "a/b",
  "\ud800",
  "\0",
  "x".repeat(1025),
  "*",
  '"e"',
  "7".repeat(64),
  "Standard",
  "cursor",
  "GET",
  "null",
  "compliance",
  "governance",
];
const numbers = [
  0,
  -0,
  1,
  -1,
  1.5,
  1000,
  1001,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e300,
  Number.NaN,
  Infinity,
  -Infinity,
];
const names = [
  ...[
    "onlyIf",
    "range",
    "httpMetadata",
    "customMetadata",
    "ssecKey",
    "md5",
    "sha1",
    "sha256",
    "storageClass",
    "limit",
  ],
  ...[
    "prefix",
    "cursor",
    "delimiter",
    "startAfter",
    "include",
    "offset",
    "length",
    "suffix",
    "etagMatches",
    "method",
  ],
  ...[
    "etagDoesNotMatch",
    "uploadedBefore",
    "uploadedAfter",
    "secondsGranularity",
    "contentType",
    "cacheExpiry",
    "expiresIn",
  ],
  ...["version", "at", "versions", "tags", "retention", "legalHold", "mode", "until"],
  ...["partNumber", "etag", "__proto__", "constructor", "toString", "valueOf"],
];

function throws(): never {
  throw new Own("thrown by a value");
}

const makers: readonly ((random: Random, depth: number) => unknown)[] = [
  (random) => random.pick(texts),
  (random) => random.pick(numbers),
  (random) => random.pick([undefined, null, true, false, Symbol("s"), 10n, () => 1]),
  (random) => new Date(random.pick(numbers)),
  (random) => new Uint8Array(random.pick([0, 1, 16, 20, 32, 5000])),
  () => new ArrayBuffer(8),
  () => new DataView(new ArrayBuffer(3)),
  () => new SharedArrayBuffer(4),
  () => new Blob(["b"]),
  (random, depth) => Array.from({ length: random.below(4) }, () => anyValue(random, depth + 1)),
  (random) => new Array(random.below(4)),
  (random, depth) => Object.assign(Object.create(null) as object, anyOptions(random, depth)),
  (random, depth) => anyOptions(random, depth),
  (random) =>
    new Headers([
      random.pick([
        ["range", "bytes=0-1"],
        ["if-match", '"a"'],
        ["content-type", "a/b"],
        ["if-none-match", "x"],
        ["expires", "x"],
      ]),
    ]),
  () => ({ toString: throws, [Symbol.toPrimitive]: throws }),
  () => new Proxy({}, { get: throws }),
  () => new Map([["a", 1]]),
  (random) =>
    new ReadableStream({ pull: (c) => (random.below(2) === 0 ? c.close() : c.enqueue(random.pick(texts))) }),
];

function anyValue(random: Random, depth = 0): unknown {
  return (depth > 3 ? makers[random.below(3)]! : random.pick(makers))(random, depth);
}

function anyOptions(random: Random, depth: number): Record<string, unknown> {
  const pairs = Array.from({ length: random.below(4) }, () => [
    random.pick(names),
    anyValue(random, depth + 1),
  ]);
  return Object.fromEntries(pairs) as Record<string, unknown>;
}

/** Returns mostly an options object with known names, so that deeper checks are reached. */
function likely(random: Random): unknown {
  return random.below(3) === 0 ? anyValue(random) : anyOptions(random, 0);
}

type Calls = Readonly<Record<string, (...args: unknown[]) => unknown>>;

async function call(bucket: StoreBucket, random: Random): Promise<string> {
  const methods = bucket as unknown as Calls;
  const key = random.below(2) === 0 ? anyValue(random) : "key";
  switch (random.below(11)) {
    case 0:
      return kind("head", await methods.head!(key, likely(random)));
    case 1: {
      const found = await methods.get!(key, likely(random));
      if (found !== null && "bytes" in (found as object)) return readWhole(found);
      return kind("get", found);
    }
    case 2: {
      const stored = await methods.put!(key, anyValue(random), likely(random));
      if (stored !== null) await checkStored(bucket, stored);
      return kind("put", stored);
    }
    case 3:
      return kind(
        "delete",
        await methods.delete!(random.below(2) === 0 ? key : anyValue(random), likely(random)),
      );
    case 4:
      return kind("list", await methods.list!(likely(random)));
    case 5:
      return kind("presign", await methods.presign!(key, likely(random)));
    case 6:
      return kind("create upload", await methods.createMultipartUpload!(key, likely(random)));
    case 7:
      return kind("set tags", await methods.setTags!(key, anyValue(random), likely(random)));
    case 8:
      return kind("set retention", await methods.setRetention!(key, anyValue(random), likely(random)));
    case 9:
      return kind("set legal hold", await methods.setLegalHold!(key, anyValue(random), likely(random)));
    default: {
      const upload = methods.resumeMultipartUpload!(key, anyValue(random)) as unknown as Calls;
      if (random.below(2) === 0) return kind("complete", await upload.complete!(anyValue(random)));
      return kind("part", await upload.uploadPart!(anyValue(random), anyValue(random), likely(random)));
    }
  }
}

function kind(method: string, value: unknown): string {
  return `${method} ${value === null ? "null" : typeof value}`;
}

async function readWhole(found: unknown): Promise<string> {
  const { bytes, size, range } = found as {
    bytes(): Promise<Uint8Array>;
    size: number;
    range: { offset: number; length: number };
  };
  const length = (await (found as { bytes: typeof bytes }).bytes()).length;
  const lies = range.offset >= 0 && range.offset + range.length <= size && length === range.length;
  holds(lies, `the range ${range.offset}+${range.length} of ${size} gave ${length} bytes`);
  return "get object";
}

/** Checks that the result of a put matches the result of head. */
async function checkStored(bucket: StoreBucket, stored: unknown): Promise<void> {
  const { key, etag, httpMetadata } = stored as {
    key: string;
    etag: string;
    httpMetadata: { cacheExpiry?: Date };
  };
  const found = await bucket.head(key);
  holds(found?.etag === etag, "is not found after its put");
  const expiry = httpMetadata.cacheExpiry;
  holds(expiry === undefined || !Number.isNaN(expiry.getTime()), "has an invalid cache expiry");
  found?.writeHttpMetadata(new Headers());
}

const now = () => 1_794_700_800_000;
const presign = { endpoint: "http://h", accessKeyId: "STOREAAAAAAAAAAAAAAA", secretAccessKey: "secret" };

/**
 * Matches errors of JavaScript itself when a value, such as a key, is converted to a string, and
 * messages that end with the number that was passed.
 */
const shownToCallers =
  /^Cannot convert (?:a Symbol value to a (?:string|number)|object to primitive value|a BigInt)|: NaN$/;

async function openRunner(): Promise<Runner> {
  let engine: Engine | undefined;
  let bucket: StoreBucket | undefined;
  let seen = 0;
  return {
    async run(input) {
      if (bucket === undefined || ++seen % 250 === 0) {
        await engine?.close();
        ({ engine } = await openEngine("memory:", { now }));
        await engine.createBucket("bucket");
        // Every second bucket keeps versions and can lock them.
        if (seen % 500 === 0) await engine.changeSettings("bucket", { versioning: "on", objectLock: {} });
        bucket = bindBucket(engine, "bucket", { presign });
        await bucket.put("key", "value");
      }
      return call(bucket, createRandom(seedOf(input)));
    },
    outcomeOf(error) {
      if (error instanceof Own) return "thrown by the value";
      if (error instanceof StoreError) return isStoreFault(error) ? undefined : error.reason;
      if (!(error instanceof TypeError) && !(error instanceof RangeError)) return undefined;
      return kindOf(error.message);
    },
    passes: shownToCallers,
    close: async () => engine?.close(),
  };
}

function seedOf(input: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < input.length; i++) hash = Math.imul(hash ^ input.charCodeAt(i), 16_777_619);
  return hash >>> 0;
}

export const bindingTargets: readonly Target[] = [
  { name: "the binding's arguments", form: "text", samples: ["1", "2"], longest: 64, open: openRunner },
];
