// The stores of a suite that runs inside workerd. One socket receives the calls of the suite, and
// one serves the endpoints of all its buckets and namespaces, chosen by a header that the
// configuration of workerd adds.
import type { Engine } from "../../../src/engine/engine.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../../src/http/server/listen.ts";
import type { BucketOptions } from "../../../src/index.ts";
import { errorMessage } from "../../../src/model/errors.ts";
import { openEngine } from "../../../src/open.ts";

/** Gives an endpoint to a bucket or namespace. */
export interface Assignment {
  readonly kind: "bucket" | "kv";
  readonly slot: number;
  readonly name: string;
  /** Of a bucket: the compatibility date and flags of the script. */
  readonly options?: BucketOptions | undefined;
}

export interface ControlCall {
  readonly store: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The time of the store's clock; undefined: the system clock. */
  readonly now: number | undefined;
  readonly assign?: Assignment | undefined;
}

export interface ControlResult {
  readonly value?: unknown;
  readonly error?: string;
}

export const slotHeader = "x-slot";

export type CreateEndpoint = (engine: Engine, assignment: Assignment) => HttpHandler;

export interface Control {
  readonly calls: HttpHandler;
  readonly endpoints: HttpHandler;
  close(): Promise<void>;
}

interface ClockedEngine {
  readonly engine: Engine;
  now: number | undefined;
}

export function createControl(createEndpoint: CreateEndpoint): Control {
  const stores = new Map<number, ClockedEngine>();
  const endpoints = new Map<string, HttpHandler>();

  async function open(store: number, now: number | undefined): Promise<void> {
    const clocked: { engine?: Engine; now: number | undefined } = { now };
    const { engine } = await openEngine("memory:", { now: () => clocked.now ?? Date.now() });
    stores.set(store, Object.assign(clocked, { engine }));
  }

  async function perform({ store, method, args, now, assign }: ControlCall): Promise<unknown> {
    if (method === "open") return open(store, now);
    const clocked = stores.get(store);
    if (clocked === undefined) throw new Error(`Store ${store} is not open.`);
    clocked.now = now;
    const { engine } = clocked;
    const value = await callEngine(engine, method, args);
    if (assign !== undefined) endpoints.set(`${assign.kind}-${assign.slot}`, createEndpoint(engine, assign));
    return value;
  }

  return {
    async calls(request) {
      const call = JSON.parse(await readText(request)) as ControlCall;
      const result: ControlResult = await perform(call).then(
        (value) => ({ value }),
        (error: unknown) => ({ error: errorMessage(error) }),
      );
      return respond(200, JSON.stringify(result));
    },
    endpoints(request) {
      const endpoint = endpoints.get(request.header(slotHeader) ?? "");
      return endpoint === undefined ? respond(500, "This endpoint was not assigned.") : endpoint(request);
    },
    async close() {
      await Promise.all([...stores.values()].map(({ engine }) => engine.close()));
    },
  };
}

async function callEngine(engine: Engine, method: string, args: readonly unknown[]): Promise<unknown> {
  const [name, options] = args as [string, never];
  switch (method) {
    case "createBucket":
      return engine.createBucket(name, options);
    case "listBuckets":
      return (await engine.listBuckets()).map(({ name, created, storageClass }) => ({
        name,
        created,
        storageClass,
      }));
    case "deleteBucket":
      return engine.deleteBucket(name);
    case "createKvNamespace":
      return engine.kv.createNamespace(name);
    case "listKvNamespaces":
      return engine.kv.listNamespaces();
    case "deleteKvNamespace":
      return engine.kv.deleteNamespace(name);
    case "sweep":
      return engine.sweep();
    case "close":
      return engine.close();
    default:
      return undefined;
  }
}

async function readText(request: HttpRequest): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request.body()) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks).toString();
}

function respond(status: number, body: string): HttpResponse {
  return { status, headers: [], body };
}
