// A route of the console's API: one method on one path, with readers for the query and JSON body.
// Bucket names and object keys are in the query or the body, never in the path.
import { collectBody } from "../http/collect-body.ts";
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { isFields, isWithinJsonLimits } from "../model/shape.ts";
import type { Right } from "./auth/roles.ts";
import type { Session } from "./auth/sessions.ts";
import { ConsoleError } from "./response.ts";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** What the user must be allowed to do. The handler checks it before it calls `run`. */
  readonly needs: RouteNeeds;
  /** Maximum size of the JSON body. Default: 64 KiB. */
  readonly maxJsonBytes?: number;
  run(call: Call): HttpResponse | Promise<HttpResponse>;
}

/**
 * "store": the right on the whole store. "bucket": the right on the bucket that the query or body
 * names in `bucket`. "nothing": every signed-in user, who sees only what the session's role allows.
 */
export type RouteNeeds =
  | { readonly right: Right; readonly on: "store" }
  | { readonly right: Right; readonly on: "bucket"; readonly in: "query" | "body" }
  | { readonly on: "nothing" };

/** A route that needs no session. */
export interface OpenRoute extends Omit<Route, "run" | "needs"> {
  run(call: Omit<Call, "session">): HttpResponse | Promise<HttpResponse>;
}

export interface Call {
  readonly request: HttpRequest;
  readonly session: Session;
  readonly query: Query;
  /** Reads and parses the JSON body. */
  fields(): Promise<Fields>;
}

export interface Query {
  /** Returns the empty string if the parameter is missing. */
  text(name: string): string;
  optional(name: string): string | undefined;
  /** Throws unless the parameter is a whole number from 1 to `max`. */
  number(name: string, defaultValue: number, max: number): number;
  /** Reads milliseconds since the epoch. Undefined if the parameter is missing. */
  time(name: string): number | undefined;
}

/** Reads fields of a JSON object. Throws if a field is missing or has the wrong type. */
export interface Fields {
  text(name: string): string;
  optionalText(name: string): string | undefined;
  number(name: string): number;
  /** False if the field is missing. */
  flag(name: string): boolean;
  /** Undefined if the field is missing. */
  list(name: string): readonly unknown[] | undefined;
  /** Reads an object of strings; empty if the field is missing. */
  texts(name: string): Readonly<Record<string, string>>;
  /** Reads an object of any fields. Undefined if the field is missing or null. */
  object(name: string): Readonly<Record<string, unknown>> | undefined;
}

export const defaultJsonBytes = 64 * 1024;
/** The latest time that a Date can have. */
export const maxTime = 8.64e15;

export function parseQuery(search: string): Query {
  const parameters = new URLSearchParams(search);
  return {
    text: (name) => parameters.get(name) ?? "",
    optional: (name) => parameters.get(name) ?? undefined,
    number(name, defaultValue, max) {
      const text = parameters.get(name);
      if (text === null) return defaultValue;
      const number = Number(text);
      if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
      throw new ConsoleError(400, `"${name}" must be a whole number from 1 to ${max}.`);
    },
    time(name) {
      const text = parameters.get(name);
      if (text === null) return undefined;
      if (/^\d+$/.test(text) && Number(text) <= maxTime) return Number(text);
      throw new ConsoleError(400, `"${name}" must be a time in milliseconds since 1970.`);
    },
  };
}

export async function parseFields(request: HttpRequest, maxBytes = defaultJsonBytes): Promise<Fields> {
  const declared = Number(request.header("content-length") ?? 0);
  if (declared > maxBytes) throw tooLargeError(maxBytes);
  const bytes = await collectBody(request.body(), maxBytes);
  if (bytes === undefined) throw tooLargeError(maxBytes);
  if (!isWithinJsonLimits(bytes))
    throw new ConsoleError(413, "The request has too many values, or lists too deep in each other.");
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new ConsoleError(400, "The request is not JSON.");
  }
  if (!isFields(value)) throw new ConsoleError(400, "The request must be a JSON object.");
  return createFields(value);
}

function tooLargeError(maxBytes: number): ConsoleError {
  return new ConsoleError(413, `The request is too large: at most ${maxBytes / 1024} KiB are read here.`);
}

function createFields(value: Readonly<Record<string, unknown>>): Fields {
  const invalidField = (name: string, what: string) => new ConsoleError(400, `"${name}" must be ${what}.`);
  const optionalText = (name: string) => {
    const field = value[name] ?? undefined;
    if (field !== undefined && typeof field !== "string") throw invalidField(name, "a string");
    return field;
  };
  return {
    optionalText,
    text(name) {
      const text = optionalText(name);
      if (text === undefined) throw invalidField(name, "a string");
      return text;
    },
    number(name) {
      const number = value[name];
      if (typeof number !== "number") throw invalidField(name, "a number");
      return number;
    },
    flag(name) {
      const flag = value[name] ?? false;
      if (typeof flag !== "boolean") throw invalidField(name, "true or false");
      return flag;
    },
    list(name) {
      const list = value[name] ?? undefined;
      if (list !== undefined && !Array.isArray(list)) throw invalidField(name, "a list");
      return list;
    },
    texts(name) {
      const texts = value[name] ?? {};
      if (!isFields(texts) || Object.values(texts).some((text) => typeof text !== "string")) {
        throw invalidField(name, "an object of strings");
      }
      return texts as Record<string, string>;
    },
    object(name) {
      const object = value[name] ?? undefined;
      if (object !== undefined && !isFields(object)) throw invalidField(name, "an object");
      return object;
    },
  };
}
