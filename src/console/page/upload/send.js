// Sends bytes with XMLHttpRequest, because fetch does not report progress. The browser streams a
// slice of a file from disk, so files are not loaded into memory.
import { address, ownHeaders, toApiError, unreachableError } from "../client/api.js";

/**
 * @typedef {object} SendOptions
 * @property {Record<string, string | number>} query
 * @property {Blob} body
 * @property {AbortSignal} signal
 * @property {(sent: number) => void} onProgress
 */

/**
 * @param {string} path
 * @param {SendOptions} options
 * @returns {Promise<{ etag: string }>}
 */
export function send(path, { query, body, signal, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", stop);
    const removeAbortListener = () => signal.removeEventListener("abort", stop);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => {
      removeAbortListener();
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else void toApiError(request.status, () => JSON.parse(request.responseText)).then(reject);
    };
    request.onerror = () => {
      removeAbortListener();
      reject(unreachableError());
    };
    request.onabort = () => {
      removeAbortListener();
      reject(signal.reason);
    };
    request.open("PUT", address(path, query));
    for (const [name, value] of Object.entries(ownHeaders)) request.setRequestHeader(name, value);
    request.send(body);
  });
}

const retryDelays = [500, 1000, 2000, 4000];

/**
 * Retries after transient errors: if the server is unreachable or busy.
 *
 * @template T
 * @param {AbortSignal} signal
 * @param {() => Promise<T>} attempt
 * @returns {Promise<T>}
 */
export async function withRetries(signal, attempt) {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const status = /** @type {{ status?: number }} */ (error).status;
      const isTransient = status === 0 || status === 503 || status === 502 || status === 504;
      const pause = retryDelays[tries];
      if (!isTransient || pause === undefined || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
