// A namespace whose methods run in a script in workerd: sends each call to the script, which calls
// its binding and returns the result or the error.
import type { StoreKvNamespace } from "../../../src/index.ts";

/** Arguments and results that JSON does not have are objects with the only key `$`. */
type Tagged = { readonly $: string; readonly value?: string };

export const script = `
const decoders = {
  undefined: () => undefined,
  number: ({ value }) => Number(value),
  bigint: ({ value }) => BigInt(value),
  symbol: ({ value }) => Symbol(value),
  function: () => () => 0,
  date: () => new Date(),
  blob: () => new Blob([]),
};

function decode(value, body) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => decode(item, body));
  if (value.$ === "body") return body(value.value);
  if (value.$ !== undefined) return decoders[value.$](value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, decode(item, body)]));
}

const bodies = {
  stream: (request) => request.body ?? new Blob([]).stream(),
  ArrayBuffer: (request) => request.arrayBuffer(),
  Uint8Array: async (request) => new Uint8Array(await request.arrayBuffer()),
  DataView: async (request) => new DataView(await request.arrayBuffer()),
  text: (request) => request.text(),
};

export default {
  async fetch(request, env) {
    const { method, args, bodyKind } = JSON.parse(decodeURIComponent(request.headers.get("x-call")));
    try {
      const body = bodyKind === undefined ? undefined : await bodies[bodyKind](request);
      const result = await env.KV[method](...args.map((arg) => decode(arg, () => body)));
      return respond(result);
    } catch (error) {
      return Response.json({ name: error.name, message: error.message }, { headers: { "x-kind": "error" } });
    }
  },
};

function respond(result) {
  const { value, ...rest } = result?.cacheStatus === undefined || result.keys ? { value: result } : result;
  const wrapper = encodeURIComponent(JSON.stringify(rest));
  const answer = (kind, body) => new Response(body, { headers: { "x-kind": kind, "x-wrapper": wrapper } });
  if (value instanceof ReadableStream) return answer("stream", value);
  if (value instanceof ArrayBuffer) return answer("ArrayBuffer", value);
  if (value instanceof Map) return answer("Map", JSON.stringify([...value]));
  return answer(value === undefined ? "undefined" : "json", JSON.stringify(value));
}
`;

const errorTypes: Readonly<Record<string, ErrorConstructor>> = { TypeError, SyntaxError, RangeError };

/** Calls the script on the port. */
export function remoteNamespace(port: number): StoreKvNamespace {
  async function call(method: string, args: readonly unknown[]): Promise<unknown> {
    const { encoded, bodyKind, body } = encodeCall(args);
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "x-call": encodeURIComponent(JSON.stringify({ method, args: encoded, bodyKind })) },
      ...(body === undefined ? {} : { body, duplex: "half" }),
    } as RequestInit);
    const kind = response.headers.get("x-kind");
    if (kind === null) throw new Error(`The script failed: ${response.status} ${await response.text()}`);
    if (kind === "error") {
      const { name, message } = (await response.json()) as { name: string; message: string };
      throw new (errorTypes[name] ?? Error)(message);
    }
    const wrapper = JSON.parse(decodeURIComponent(response.headers.get("x-wrapper")!)) as object;
    const value = await decodeBody(kind, response);
    return Object.keys(wrapper).length === 0 ? value : { value, ...wrapper };
  }
  const methods = ["get", "getWithMetadata", "put", "delete", "list"];
  const bound = methods.map((method) => [method, async (...args: unknown[]) => call(method, args)]);
  return Object.fromEntries(bound) as unknown as StoreKvNamespace;
}

async function decodeBody(kind: string, response: Response): Promise<unknown> {
  if (kind === "stream") return response.body;
  if (kind === "ArrayBuffer") return response.arrayBuffer();
  if (kind === "Map") return new Map((await response.json()) as [string, unknown][]);
  const text = await response.text();
  return kind === "undefined" ? undefined : (JSON.parse(text) as unknown);
}

/** Longer texts are sent as the body, because headers are limited. */
const maxHeaderText = 2000;

function encodeCall(args: readonly unknown[]) {
  let bodyKind: string | undefined;
  let body: unknown;
  const asBody = (kind: string, value: unknown): Tagged => {
    bodyKind = kind;
    body = value;
    return { $: "body", value: kind };
  };
  function encode(value: unknown): unknown {
    if (value === undefined) return { $: "undefined" };
    if (typeof value === "number" && !Number.isFinite(value)) return { $: "number", value: String(value) };
    if (typeof value === "bigint") return { $: "bigint", value: String(value) };
    if (typeof value === "symbol") return { $: "symbol", value: value.description };
    if (typeof value === "function") return { $: "function" };
    if (typeof value === "string" && value.length > maxHeaderText) return asBody("text", value);
    // Lone surrogates stay as they are: JSON escapes them.
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof ReadableStream) return asBody("stream", value);
    if (value instanceof ArrayBuffer) return asBody("ArrayBuffer", value);
    if (value instanceof DataView) return asBody("DataView", value);
    if (ArrayBuffer.isView(value)) return asBody("Uint8Array", value);
    if (value instanceof Date) return { $: "date" };
    if (value instanceof Blob) return { $: "blob" };
    if (Array.isArray(value)) return value.map(encode);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encode(item)]));
  }
  return { encoded: args.map(encode), bodyKind, body };
}
