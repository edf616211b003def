// Asks the console of a running server, as its page does: signs in with a token and keeps the
// session's cookie.
import { type Fields, isFields } from "../../model/shape.ts";
import { CommandError } from "../framework/command-error.ts";

export interface ConsoleClient {
  get(path: string, signal?: AbortSignal): Promise<Fields>;
  /** Ends the session. */
  close(): Promise<void>;
}

const headers = { "x-store-console": "1" };
const answerMilliseconds = 30_000;

/** `url` is the address of the console without a path. */
export async function signIn(url: string, token: string): Promise<ConsoleClient> {
  const response = await send(url, "/api/session", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  await readAnswer(response, url);
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0]!)
    .join("; ");
  return {
    async get(path, signal) {
      return readAnswer(
        await send(url, path, { headers: { ...headers, cookie }, signal: signal ?? null }),
        url,
      );
    },
    async close() {
      await send(url, "/api/session", { method: "DELETE", headers: { ...headers, cookie } }).catch(() => {});
    },
  };
}

async function send(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    const timeout = AbortSignal.timeout(answerMilliseconds);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    return await fetch(new URL(path, url), { ...init, signal, redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    const cause = (error as Error).cause;
    const why = cause instanceof Error ? cause.message : (error as Error).message;
    throw new CommandError(`The console at ${url} cannot be reached: ${why}.`, {
      hint: "Check that the server runs, and its address: --console URL",
      cause: error,
    });
  }
}

async function readAnswer(response: Response, url: string): Promise<Fields> {
  const text = await response.text();
  let value: unknown;
  try {
    value = text === "" ? {} : JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isFields(value)) {
    throw new CommandError(`${url} did not answer like a console of Store.`, {
      hint: "Check the address: --console URL names the port of the console, 9001 by default.",
    });
  }
  if (response.ok) return value;
  const [message, hint] = [value.message, value.hint].map((one) =>
    typeof one === "string" ? one : undefined,
  );
  throw new CommandError(`The console at ${url} refused the request: ${message ?? response.status}`, {
    hint,
  });
}
