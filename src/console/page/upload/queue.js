// The upload queue of this tab. It continues when another page is opened, runs a few uploads at a
// time, and notifies listeners of every change.
import { errorMessages, isAbort, noteFailure } from "../elements/notices.js";
import { deleteFileNote, savePending } from "./notes.js";
import { discard, transfer } from "./transfer.js";

/** @import { ObjectRow, Preview } from "../../wire-types.ts" */

/**
 * @typedef {object} Task
 * @property {number} id
 * @property {string} bucket
 * @property {string} key
 * @property {File} file
 * @property {"waiting" | "sending" | "done" | "failed" | "cancelled"} state
 * @property {number} sent
 * @property {string} [problem]
 * @property {AbortController} [control]
 */

const concurrency = 3;

/** @type {Task[]} */
const tasks = [];
let lastId = 0;
/** @type {Set<() => void>} */
const watchers = new Set();
/** @typedef {(bucket: string, row: ObjectRow | undefined) => void} StoredListener */
/** @type {Set<StoredListener>} */
const storedListeners = new Set();

/** @returns {readonly Task[]} */
export function allTasks() {
  return tasks;
}

/** @param {() => void} watcher */
export function watchTasks(watcher) {
  watchers.add(watcher);
}

/**
 * Calls the listener after every finished upload, with the new object, and without it when no more
 * uploads to the bucket are in flight, until `signal` aborts.
 *
 * @param {AbortSignal} signal
 * @param {StoredListener} listener
 */
export function onStored(signal, listener) {
  storedListeners.add(listener);
  signal.addEventListener("abort", () => storedListeners.delete(listener));
}

function notifyWatchers() {
  for (const watcher of watchers) watcher();
}

/**
 * @param {string} bucket
 * @param {readonly { key: string, file: File }[]} files
 */
export function addFiles(bucket, files) {
  for (const { key, file } of files)
    tasks.push({ id: ++lastId, bucket, key, file, state: "waiting", sent: 0 });
  for (const { key, file } of files) savePending(bucket, key, file);
  start();
  notifyWatchers();
}

function start() {
  const sending = tasks.filter(({ state }) => state === "sending").length;
  const next = tasks.filter(({ state }) => state === "waiting").slice(0, concurrency - sending);
  for (const task of next) void run(task);
}

/** @param {Task} task */
async function run(task) {
  task.state = "sending";
  task.control = new AbortController();
  const { bucket, key, file } = task;
  const { signal } = task.control;
  try {
    /** @param {number} sent */
    const onProgress = (sent) => {
      task.sent = sent;
      notifyWatchers();
    };
    const { etag } = await transfer({ bucket, key, file, signal, onProgress });
    task.sent = file.size;
    task.state = "done";
    deleteFileNote(bucket, key, file);
    const row = { key, size: file.size, uploaded: Date.now(), etag, preview: previewOf(file) };
    for (const listener of storedListeners) listener(bucket, { ...row, storageClass: "Standard" });
  } catch (error) {
    task.sent = 0;
    task.state = isAbort(error) ? "cancelled" : "failed";
    if (task.state === "failed") task.problem = errorMessages(error).join(" ");
    else await discard(bucket, key, file).catch(noteFailure);
  }
  start();
  notifyWatchers();
  const isBusy = tasks.some((other) => other.bucket === bucket && /^(sending|waiting)$/.test(other.state));
  if (!isBusy) for (const listener of storedListeners) listener(bucket, undefined);
}

/**
 * The kind of a new object, until the list is loaded again.
 *
 * @param {File} file
 * @returns {Preview}
 */
function previewOf({ type }) {
  const [, kind] = /^(image|video|audio|text)\//.exec(type) ?? [];
  return /** @type {Preview | undefined} */ (kind) ?? "none";
}

/** Sum of the bytes of all uploads that are not cancelled, and of those that were sent. */
export function uploadTotals() {
  const counted = tasks.filter(({ state }) => state !== "cancelled");
  return {
    size: counted.reduce((sum, { file }) => sum + file.size, 0),
    sent: counted.reduce((sum, task) => sum + task.sent, 0),
  };
}

/** @param {Task} task */
export function cancel(task) {
  if (task.state === "waiting") {
    task.state = "cancelled";
    deleteFileNote(task.bucket, task.key, task.file);
  } else task.control?.abort();
  notifyWatchers();
}

/** @param {Task} task */
export function retry(task) {
  task.state = "waiting";
  delete task.problem;
  start();
  notifyWatchers();
}

/** Removes finished uploads from the list. */
export function clearFinished() {
  const left = tasks.filter(({ state }) => state === "waiting" || state === "sending");
  tasks.splice(0, tasks.length, ...left);
  notifyWatchers();
}

// Leaving the page would cancel running uploads, so the browser asks first.
addEventListener("beforeunload", (event) => {
  if (tasks.some(({ state }) => state === "sending" || state === "waiting")) event.preventDefault();
});
