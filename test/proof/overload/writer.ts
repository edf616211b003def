// The process that writes through S3 and the script while the server is under load, and keeps a
// journal: acknowledged writes must be there with their content, unanswered writes may be there.
import { createHash } from "node:crypto";
import { request } from "node:http";
import { encodeText } from "../../../src/http/sigv4.ts";
import { type Raw, signRaw } from "../../s3/raw.ts";
import type { Key } from "../../s3/scene.ts";
import { answerCalls } from "../../support/called-process.ts";

export interface WriterTask {
  readonly url: string;
  readonly key: Key;
  readonly scriptPort: number;
}

export interface LedgerReport {
  readonly acknowledged: number;
  readonly failed: number;
  readonly checked: number;
  /** One message per wrong key. */
  readonly faults: readonly string[];
}

// Number of keys: not a multiple of the number of sizes, so that each key gets every size.
const keys = 199;
const pauseMilliseconds = 10;
const patience = 20_000;
const sizes = [40, 900, 5000, 40_000, 100_000];

interface Entry {
  /** Digest of the last acknowledged content; undefined if none was acknowledged. */
  acknowledged: string | undefined;
  /** Digests of contents sent later without an acknowledgement. */
  inDoubt: string[];
}

interface Answered {
  readonly status: number;
  readonly bytes: Buffer;
}

let task: WriterTask;
let isWriting = false;
let writing: Promise<unknown> = Promise.resolve();
let count = 0;
let acknowledged = 0;
let failed = 0;
const ledger = new Map<string, Entry>();

function send(port: number, raw: Raw): Promise<Answered> {
  const query = (raw.query ?? [])
    .map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`)
    .join("&");
  const path = query === "" ? raw.path : `${raw.path}?${query}`;
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port, method: raw.method, path, headers: { ...raw.headers }, agent: false },
      (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () => resolve({ status: answer.statusCode!, bytes: Buffer.concat(pieces) }));
        answer.on("error", reject);
      },
    );
    asked.setTimeout(patience, () => asked.destroy(new Error("no answer")));
    asked.on("error", reject);
    asked.end(raw.body);
  });
}

function sendSigned(raw: Raw): Promise<Answered> {
  const { url, key } = task;
  return send(Number(new URL(url).port), signRaw(url, raw, { key, form: "header" }));
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Writes sequentially; each lane has its own keys, so the order of its writes is known. */
async function writeLane(lane: "s3" | "script"): Promise<void> {
  while (isWriting) {
    const number = count++;
    const key = `ledger/${lane}/${number % keys}`;
    const body = Buffer.alloc(sizes[number % sizes.length]!, `write ${number} of ${lane}. `);
    const entry = ledger.get(key) ?? { acknowledged: undefined, inDoubt: [] };
    ledger.set(key, entry);
    const content = digest(body);
    entry.inDoubt.push(content);
    const isDone = await (lane === "s3"
      ? sendSigned({ method: "PUT", path: `/bucket/${key}`, body })
      : send(task.scriptPort, { method: "PUT", path: `/${key}`, body })
    ).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isDone) {
      acknowledged++;
      entry.acknowledged = content;
      entry.inDoubt = [];
    } else failed++;
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}

async function check(key: string, entry: Entry): Promise<string | undefined> {
  if (entry.acknowledged === undefined) return undefined;
  const { status, bytes } = await sendSigned({ method: "GET", path: `/bucket/${key}` });
  if (status !== 200) return `${key}: ${status} ${bytes.toString().slice(0, 200)}`;
  const found = digest(bytes);
  if (found === entry.acknowledged || entry.inDoubt.includes(found)) return undefined;
  return `${key}: ${bytes.length} bytes that match no expected write, starting with ${JSON.stringify(bytes.subarray(0, 40).toString())}`;
}

const calls = {
  async start(given: WriterTask): Promise<void> {
    task = given;
    isWriting = true;
    writing = Promise.all([writeLane("s3"), writeLane("script")]);
  },
  async stop(_: null): Promise<void> {
    isWriting = false;
    await writing;
  },
  /** Compares the stored objects with the journal; writes must have stopped. */
  async check(_: null): Promise<LedgerReport> {
    const faults: string[] = [];
    for (const [key, entry] of ledger) {
      const fault = await check(key, entry);
      if (fault !== undefined) faults.push(fault);
    }
    const checked = [...ledger.values()].filter((entry) => entry.acknowledged !== undefined).length;
    return { acknowledged, failed, checked, faults };
  },
};

export type WriterCalls = typeof calls;

answerCalls(calls);
