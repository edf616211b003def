// Sends requests to the console's API. An error response becomes an ApiError with the server's
// message; if the session has ended, the sign-in opens.
import { noteOffline, noteOnline } from "./connection.js";

/** @import { ErrorDocument } from "../../wire-types.ts" */

export class ApiError extends Error {
  /**
   * @param {number} status 0 when the server could not be reached
   * @param {ErrorDocument["error"]} error
   */
  constructor(status, { code, message, hint }) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** Header of every request. Pages of other origins cannot send it, which prevents CSRF. */
export const ownHeaders = { "x-store-console": "1" };

/** @type {() => void} */
let onSignedOut = () => {};

/** @param {() => void} listener */
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

/**
 * @typedef {object} RequestOptions
 * @property {"GET" | "POST" | "PUT" | "DELETE"} [method]
 * @property {Record<string, string | number | undefined>} [query]
 * @property {unknown} [json] sent as the body
 * @property {AbortSignal} [signal]
 */

/**
 * @template T
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<T>}
 */
export async function ask(path, { method = "GET", query = {}, json, signal } = {}) {
  /** @type {RequestInit} */
  const init = { method, headers: { ...ownHeaders, "content-type": "application/json" } };
  if (json !== undefined) init.body = JSON.stringify(json);
  if (signal !== undefined) init.signal = signal;
  let response;
  try {
    response = await fetch(address(path, query), init);
  } catch (error) {
    if (signal?.aborted) throw error;
    noteOffline();
    throw unreachableError();
  }
  noteOnline();
  if (response.status === 204) return /** @type {T} */ (undefined);
  if (response.ok) return await response.json();
  throw await toApiError(response.status, () => response.json());
}

/**
 * Builds a path of the API with its query.
 *
 * @param {string} path
 * @param {Record<string, string | number | undefined>} query
 */
export function address(path, query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const search = parameters.toString();
  return search === "" ? path : `${path}?${search}`;
}

/**
 * @param {number} status
 * @param {() => unknown} read
 */
export async function toApiError(status, read) {
  /** @type {ErrorDocument["error"]} */
  let error = { code: "Unknown", message: `The server answered with status ${status}.` };
  try {
    error = /** @type {ErrorDocument} */ (await read()).error ?? error;
  } catch {
    // The response may come from a proxy and not be JSON.
  }
  if (status === 401) onSignedOut();
  return new ApiError(status, error);
}

export function unreachableError() {
  return new ApiError(0, {
    code: "Unreachable",
    message: "The server cannot be reached.",
    hint: "Check that store dev or store serve is running. This page tries again by itself.",
  });
}
