// Stores notes about uploads in localStorage, so that they can be resumed after the page was closed:
// if the user selects the same files again, only missing files and parts are sent.

const kind = "store console upload ";

/**
 * @typedef {object} Note
 * @property {string} bucket
 * @property {string} key
 * @property {string} id upload id; empty if no part was sent
 * @property {number} partSize
 * @property {string} name file name
 * @property {number} size
 * @property {number} modified
 */

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 */
function storageKey(bucket, key, { name, size, lastModified }) {
  return kind + JSON.stringify([bucket, key, name, size, lastModified]);
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 * @returns {Note | undefined}
 */
export function findNote(bucket, key, file) {
  const text = localStorage.getItem(storageKey(bucket, key, file));
  return text === null ? undefined : JSON.parse(text);
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 * @param {{ id: string, partSize: number }} upload
 */
export function saveNote(bucket, key, file, upload) {
  /** @type {Note} */
  const note = { bucket, key, ...upload, name: file.name, size: file.size, modified: file.lastModified };
  localStorage.setItem(storageKey(bucket, key, file), JSON.stringify(note));
}

/** Uploads that were not begun are remembered up to this number. */
const maxPending = 1000;

/**
 * Remembers a file that waits for its upload.
 *
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 */
export function savePending(bucket, key, file) {
  if (localStorage.length >= maxPending || findNote(bucket, key, file) !== undefined) return;
  try {
    saveNote(bucket, key, file, { id: "", partSize: 0 });
  } catch {
    // The storage of the browser is full: the upload itself does not need the note.
  }
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 */
export function deleteFileNote(bucket, key, file) {
  localStorage.removeItem(storageKey(bucket, key, file));
}

/**
 * Returns all notes of a bucket.
 *
 * @param {string} bucket
 * @returns {Note[]}
 */
export function listNotes(bucket) {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(kind));
  /** @type {Note[]} */
  const notes = names.map((name) => JSON.parse(localStorage.getItem(name) ?? "null"));
  return notes.filter((note) => note?.bucket === bucket);
}

/** @param {Note} note */
export function deleteNote({ bucket, key, name, size, modified }) {
  localStorage.removeItem(kind + JSON.stringify([bucket, key, name, size, modified]));
}

/**
 * Finds the note of the upload that was started with this file.
 *
 * @param {string} bucket
 * @param {File} file
 */
export function findFileNote(bucket, { name, size, lastModified }) {
  return listNotes(bucket).find(
    (note) => note.name === name && note.size === size && note.modified === lastModified,
  );
}
