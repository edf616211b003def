// Fuzz targets of bucket names, keys, cursors, grants and durations.

import { formatGrant, parseDuration, parseGrant } from "../../../src/access/grants.ts";
import { checkBucketName } from "../../../src/model/bucket.ts";
import { isStoreFault, StoreError } from "../../../src/model/errors.ts";
import { checkKey, compareKeys, keyBytes } from "../../../src/model/key.ts";
import {
  decodeCursor,
  decodeVersionCursor,
  encodeCursor,
  encodeVersionCursor,
} from "../../../src/model/listing.ts";
import { holds, kindOf, type Target } from "./target.ts";

/** Returns the reason of a documented StoreError; undefined for internal errors. */
export function storeOutcome(error: unknown): string | undefined {
  return error instanceof StoreError && !isStoreFault(error) ? error.reason : undefined;
}

const buckets: Target = {
  name: "bucket names",
  form: "text",
  samples: ["photos", "a-b.c-9", "192.168.0.1", "a".repeat(63)],
  tokens: ["..", ".-", "xn--", "A", "_", "a".repeat(60)],
  open: () => ({
    run(input) {
      checkBucketName(input);
      holds(/^[a-z0-9.-]{3,63}$/.test(input), "has characters that a bucket name must not have");
      holds(!/^[.-]|[.-]$|\.\./.test(input), "has a dot or hyphen in a wrong position");
      return "taken";
    },
    outcomeOf: storeOutcome,
  }),
};

const keys: Target = {
  name: "keys",
  form: "text",
  samples: ["a/b.txt", "übergrößen/\ud83d\ude00", "k".repeat(1024), "../../etc/passwd", "\uffff"],
  tokens: ["\ud83d", "\ude00", "ü".repeat(300), "\uffff", "\u{10000}"],
  open() {
    let before = "";
    return {
      run(input) {
        checkKey(input);
        const bytes = keyBytes(input);
        holds(bytes.length <= 1024, `has ${bytes.length} bytes`);
        holds(
          new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) === input,
          "is another key after conversion to bytes and back",
        );
        const order = Math.sign(compareKeys(input, before));
        holds(order === Buffer.compare(bytes, keyBytes(before)), "does not sort like its bytes");
        before = input;
        return "taken";
      },
      outcomeOf: storeOutcome,
    };
  },
};

const cursors: Target = {
  name: "cursors",
  form: "text",
  samples: [
    encodeCursor({ kind: "start", value: "" }),
    encodeCursor({ kind: "key", value: "photos/2026/ü.jpg" }),
    encodeCursor({ kind: "prefix", value: "photos/" }),
    encodeVersionCursor({ kind: "key", value: "a b", version: "null" }),
  ],
  tokens: ["=", "==", "-_", "+/", "AAAA"],
  open: () => ({
    run(input) {
      const position = decodeCursor(input);
      holds(encodeCursor(position) === input, "is another cursor when encoded again");
      return position.kind;
    },
    outcomeOf: storeOutcome,
  }),
};

const versionCursors: Target = {
  name: "cursors of versions",
  form: "text",
  samples: [
    encodeVersionCursor({ kind: "start", value: "" }),
    encodeVersionCursor({ kind: "key", value: "photos/ü 1.jpg", version: "0".repeat(32) }),
    encodeVersionCursor({ kind: "key", value: " " }),
    encodeVersionCursor({ kind: "prefix", value: "photos/" }),
    encodeCursor({ kind: "key", value: "a b" }),
  ],
  tokens: ["=", "==", "-_", "+/", "AAAA"],
  open: () => ({
    run(input) {
      const position = decodeVersionCursor(input);
      holds(encodeVersionCursor(position) === input, "is another cursor when encoded again");
      return position.kind;
    },
    outcomeOf: storeOutcome,
  }),
};

const grants: Target = {
  name: "grants and times",
  form: "text",
  samples: ["photos:read,write", "photos/2026/*:append", "photos/a.jpg:read", "*:admin", "30d", "12h", "1w"],
  tokens: [":", "read", "write", "list", "admin", "*", "w", "s", "m"],
  open: () => ({
    run(input) {
      if (!input.includes(":")) {
        const time = parseDuration(input);
        holds(Number.isSafeInteger(time) && time > 0, `lasts ${time} ms`);
        return "time";
      }
      const grant = parseGrant(input);
      const { bucket, prefix = "", object, rights } = grant;
      const part = object ?? (prefix === "" ? "" : `${prefix}*`);
      const isSame = input.startsWith(`${bucket}${part === "" ? "" : `/${part}`}`);
      holds(isSame && rights.length > 0, "is parsed as another grant");
      holds(
        formatGrant(parseGrant(formatGrant(grant))) === formatGrant(grant),
        "is formatted as another grant",
      );
      return rights.join();
    },
    outcomeOf: (error) => (error instanceof RangeError ? kindOf(error.message) : undefined),
  }),
};

export const nameTargets: readonly Target[] = [buckets, keys, cursors, versionCursors, grants];
