// One file on its way into a bucket: in one piece, or in parts that go side by side when it is large.
import { ask } from "../api.js";
import { forget, noted, takeNote } from "./notes.js";
import { persistently, send } from "./send.js";

/** @import { PartsDocument, PartRow } from "../../wire-types.ts" */

const MiB = 1024 * 1024;
const smallestPart = 16 * MiB;
const mostParts = 10_000;
const atOnce = 4;

/**
 * @typedef {object} Transfer
 * @property {string} bucket
 * @property {string} key
 * @property {File} file
 * @property {AbortSignal} signal
 * @property {(sent: number) => void} onProgress bytes of this file that are there or under way
 */

/** @param {Transfer} transfer */
export async function transfer({ bucket, key, file, signal, onProgress }) {
  if (file.size > smallestPart) return sendInParts({ bucket, key, file, signal, onProgress });
  const query = { bucket, key };
  await persistently(signal, () => send("/api/object", { query, body: file, signal, onProgress }));
}

/** @param {Transfer} transfer */
async function sendInParts({ bucket, key, file, signal, onProgress }) {
  const { id, partSize, present } = await beginOrGoOn(bucket, key, file);
  const count = Math.ceil(file.size / partSize);
  /** @type {Map<number, number>} bytes by part */
  const sent = new Map();
  /** @type {{ number: number, etag: string }[]} */
  const parts = [];
  /** @type {number[]} */
  const waiting = [];
  for (let number = 1; number <= count; number++) {
    const size = Math.min(partSize, file.size - (number - 1) * partSize);
    const there = present.get(number);
    if (there?.size === size) {
      sent.set(number, size);
      parts.push({ number, etag: there.etag });
    } else waiting.push(number);
  }
  const tell = () => onProgress([...sent.values()].reduce((sum, bytes) => sum + bytes, 0));
  tell();
  // One that fails stops the others at once.
  const failing = new AbortController();
  const either = AbortSignal.any([signal, failing.signal]);
  async function work() {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const part = number;
      const body = file.slice((part - 1) * partSize, part * partSize);
      const query = { bucket, key, upload: id, number: part };
      /** @param {number} bytes */
      const partProgress = (bytes) => {
        sent.set(part, bytes);
        tell();
      };
      const options = { query, body, signal: either, onProgress: partProgress };
      const { etag } = await persistently(either, () => send("/api/uploads/part", options));
      parts.push({ number: part, etag });
      partProgress(body.size);
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } catch (error) {
    failing.abort();
    throw signal.aborted ? signal.reason : error;
  }
  parts.sort((a, b) => a.number - b.number);
  await ask("/api/uploads/complete", { method: "POST", json: { bucket, key, upload: id, parts } });
  forget(bucket, key, file);
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 * @returns {Promise<{ id: string, partSize: number, present: Map<number, PartRow> }>}
 */
async function beginOrGoOn(bucket, key, file) {
  const note = noted(bucket, key, file);
  if (note !== undefined) {
    const { id, partSize } = note;
    try {
      /** @type {PartsDocument} */
      const { parts } = await ask("/api/uploads/parts", { query: { bucket, key, upload: id } });
      return { id, partSize, present: new Map(parts.map((part) => [part.number, part])) };
    } catch (error) {
      // Ended by somebody else, or by its time: it begins anew.
      if (/** @type {{ status?: number }} */ (error).status !== 404) throw error;
      forget(bucket, key, file);
    }
  }
  const partSize = Math.max(smallestPart, Math.ceil(file.size / mostParts / MiB) * MiB);
  /** @type {{ id: string }} */
  const { id } = await ask("/api/uploads", { method: "POST", json: { bucket, key, contentType: file.type } });
  takeNote(bucket, key, file, { id, partSize });
  return { id, partSize, present: new Map() };
}

/**
 * What was begun of it goes away.
 *
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 */
export async function discard(bucket, key, file) {
  const note = noted(bucket, key, file);
  if (note === undefined) return;
  forget(bucket, key, file);
  await ask("/api/uploads", { method: "DELETE", query: { bucket, key, upload: note.id } });
}
