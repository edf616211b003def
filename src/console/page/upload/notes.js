// Remembers multipart uploads in the browser's storage, so that they can be resumed after the page was
// closed: when the same file is selected again, only missing parts are sent.

const kind = "store console upload ";

/**
 * @typedef {object} Note
 * @property {string} bucket
 * @property {string} key
 * @property {string} id of the upload
 * @property {number} partSize
 * @property {string} name of the file
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

/**
 * @param {string} bucket
 * @param {string} key
 * @param {File} file
 */
export function deleteFileNote(bucket, key, file) {
  localStorage.removeItem(storageKey(bucket, key, file));
}

/**
 * All notes of a bucket.
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
