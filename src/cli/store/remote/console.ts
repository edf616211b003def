// Requests to the console's API, signed in with a token. Used for what S3 has no requests for.

import { type Fields, isFields, isText } from "../../../model/shape.ts";
import { formatHost } from "../../../s3-client/client.ts";
import { isTransient, isUnreachable, tlsAdvice } from "../../../s3-client/errors.ts";
import { type Answer, createHttpClient } from "../../../s3-client/http-client.ts";
import { readBody, readText } from "../../../s3-client/response-body.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { escapeControls } from "../../framework/output.ts";
import type { Service } from "./service.ts";
import { serviceUrl } from "./service-url.ts";

export interface ConsoleClient {
  /** Returns the JSON object of the answer; empty if it has no body. */
  request(request: ConsoleRequest): Promise<Fields>;
}

export interface ConsoleRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The console refused a request, with its status. */
export class ConsoleRefusal extends CommandError {
  readonly status: number;

  constructor(status: number, message: string, hint: readonly string[]) {
    super(message, { hint });
    this.status = status;
  }
}

const times = { connect: 5000, answer: 60_000, idle: 30_000 };
const maxTextLength = 4096;

/** Signs in, runs `work` and signs out. */
export async function withConsole<T>(
  invocation: Invocation,
  { console: access }: Service,
  work: (client: ConsoleClient) => Promise<T>,
): Promise<T> {
  const url = access && serviceUrl(access.url);
  if (access === undefined || url === undefined) throw noConsoleError(invocation);
  const host = formatHost(url);
  const http = createHttpClient(url, times);
  const session = { cookie: "" };

  async function send({ method, path, query = {}, body }: ConsoleRequest): Promise<Answer> {
    const search = new URLSearchParams(query).toString();
    const parts = body === undefined ? [] : [Buffer.from(JSON.stringify(body))];
    const headers = {
      host,
      "x-store-console": "cli",
      ...(session.cookie === "" ? {} : { cookie: session.cookie }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "content-length": String(parts[0]?.length ?? 0),
    };
    const target = search === "" ? path : `${path}?${search}`;
    try {
      return await http.send({ method, target, headers, parts }, performance.now() + times.answer);
    } catch (error) {
      throw unavailable(error, host);
    }
  }

  async function request(given: ConsoleRequest): Promise<Fields> {
    const answer = await send(given);
    const text = await readText(readBody(answer, times.idle));
    const status = answer.statusCode ?? 0;
    const value = text === "" ? {} : parseAnswer(text, host);
    if (status < 200 || status > 299) throw toRefusal(status, value, host);
    session.cookie = findCookie(answer) ?? session.cookie;
    return value;
  }

  try {
    await request({ method: "POST", path: "/api/session", body: { token: access.token } });
    return await work({ request });
  } finally {
    if (session.cookie !== "") await request({ method: "DELETE", path: "/api/session" }).catch(() => {});
    http.close();
  }
}

/** Servers of earlier versions do not have every route. */
export async function requireRoute<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ConsoleRefusal && error.status === 404)) throw error;
    throw new CommandError("The console of this server does not have this function.", {
      hint: "Update the server, or run the command on its machine with --data DIR.",
      cause: error,
    });
  }
}

function findCookie({ headers }: Answer): string | undefined {
  const [first] = headers["set-cookie"] ?? [];
  return first?.split(";")[0];
}

function parseAnswer(text: string, host: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // Reported below, as for any other text.
  }
  throw new CommandError(`The answer of ${host} is not of a console of Store.`, {
    hint: "Check the URL of the console: store profile list",
  });
}

function toRefusal(status: number, { error }: Fields, host: string): ConsoleRefusal {
  const { message, hint } = isFields(error) ? error : {};
  const why = isText(message, maxTextLength) ? escapeControls(message) : `status ${status}`;
  const hints = isText(hint, maxTextLength) ? [escapeControls(hint)] : [];
  return new ConsoleRefusal(status, `The console at ${host} refused the request: ${why}`, hints);
}

function unavailable(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || (!isTransient(error) && tlsAdvice(error) === "")) return error;
  const how = isUnreachable(error) ? "cannot be reached" : "does not answer";
  return new CommandError(`The console at ${host} ${how}: ${error.message}${tlsAdvice(error)}`, {
    hint: "Check that the server runs, and the URL of its console: store profile list",
    cause: error,
  });
}

export function noConsoleError({ command }: Invocation): CommandError {
  return usageError(`store ${command} needs the console's API of the server: S3 has no request for it.`, [
    "Create a token on the server: store console token",
    "Then add its URL: store profile add NAME --endpoint URL --console URL --replace",
    "Or set STORE_CONSOLE_URL and STORE_CONSOLE_TOKEN in the environment.",
  ]);
}
