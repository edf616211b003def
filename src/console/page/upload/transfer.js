// Uploads one file: a small file with one put, a large file as a concurrent multipart upload.
import { ask } from "../client/api.js";
import { deleteFileNote, findNote, saveNote } from "./notes.js";
import { send, withRetries } from "./send.js";

/** @import { PartsDocument, PartRow, StoredDocument } from "../../wire-types.ts" */

const MiB = 1024 * 1024;
const minPartBytes = 16 * MiB;
const maxParts = 10_000;
const concurrency = 4;

/**
 * @typedef {object} Transfer
 * @property {string} bucket
 * @property {string} key
 * @property {File} file
 * @property {AbortSignal} signal
 * @property {(sent: number) => void} onProgress receives the number of bytes sent so far
 */

/**
 * @param {Transfer} transfer
 * @returns {Promise<{ etag: string }>}
 */
export async function transfer({ bucket, key, file, signal, onProgress }) {
  if (file.size > minPartBytes) return sendInParts({ bucket, key, file, signal, onProgress });
  const query = { bucket, key };
  return withRetries(signal, () => send("/api/object", { query, body: file, signal, onProgress }));
}

/** @param {Transfer} transfer */
async function sendInParts({ bucket, key, file, signal, onProgress }) {
  const { id, partSize, present } = await startOrResume(bucket, key, file);
  const count = Math.ceil(file.size / partSize);
  /** @type {Map<number, number>} bytes sent, by part number */
  const sent = new Map();
  /** @type {{ number: number, etag: string }[]} */
  const parts = [];
  /** @type {number[]} */
  const waiting = [];
  for (let number = 1; number <= count; number++) {
    const size = Math.min(partSize, file.size - (number - 1) * partSize);
    const existing = present.get(number);
    if (existing?.size === size) {
      sent.set(number, size);
      parts.push({ number, etag: existing.etag });
    } else waiting.push(number);
  }
  const reportProgress = () => onProgress([...sent.values()].reduce((sum, bytes) => sum + bytes, 0));
  reportProgress();
  // A failed part aborts the uploads of all other parts.
  const failureController = new AbortController();
  const anySignal = AbortSignal.any([signal, failureController.signal]);
  async function work() {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const part = number;
      const body = file.slice((part - 1) * partSize, part * partSize);
      const query = { bucket, key, upload: id, number: part };
      /** @param {number} bytes */
      const partProgress = (bytes) => {
        sent.set(part, bytes);
        reportProgress();
      };
      const options = { query, body, signal: anySignal, onProgress: partProgress };
      const { etag } = await withRetries(anySignal, () => send("/api/uploads/part", options));
      parts.push({ number: part, etag });
      partProgress(body.size);
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } catch (error) {
    failureController.abort();
    throw signal.aborted ? signal.reason : error;
  }
  parts.sort((a, b) => a.number - b.number);
  /** @type {StoredDocument} */
  const stored = await ask("/api/uploads/complete", {
    method: "POST",
    json: { bucket, key, upload: id, parts },
  });
  deleteFileNote(bucket, key, file);
  return stored;
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 * @returns {Promise<{ id: string, partSize: number, present: Map<number, PartRow> }>}
 */
async function startOrResume(bucket, key, file) {
  const note = findNote(bucket, key, file);
  if (note !== undefined && note.id !== "") {
    const { id, partSize } = note;
    try {
      /** @type {PartsDocument} */
      const { parts } = await ask("/api/uploads/parts", { query: { bucket, key, upload: id } });
      return { id, partSize, present: new Map(parts.map((part) => [part.number, part])) };
    } catch (error) {
      // The upload was aborted or has expired: start a new one.
      if (/** @type {{ status?: number }} */ (error).status !== 404) throw error;
      deleteFileNote(bucket, key, file);
    }
  }
  const partSize = Math.max(minPartBytes, Math.ceil(file.size / maxParts / MiB) * MiB);
  /** @type {{ id: string }} */
  const { id } = await ask("/api/uploads", { method: "POST", json: { bucket, key, contentType: file.type } });
  saveNote(bucket, key, file, { id, partSize });
  return { id, partSize, present: new Map() };
}

/**
 * Aborts the multipart upload of a file, if there is one.
 *
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 */
export async function discard(bucket, key, file) {
  const note = findNote(bucket, key, file);
  if (note === undefined) return;
  deleteFileNote(bucket, key, file);
  if (note.id === "") return;
  await ask("/api/uploads", { method: "DELETE", query: { bucket, key, upload: note.id } });
}
