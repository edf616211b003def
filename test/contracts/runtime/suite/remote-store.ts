// Stores for suites that run inside workerd. Buckets and namespaces are the runtime's own, each
// on an endpoint of its own; everything else of a store is a call to the process of the test.
import type { OpenOptions, Store } from "../../../../src/index.ts";
import { type Action, type Reason, reasonTable, StoreError } from "../../../../src/model/errors.ts";
import type { Implementation } from "../../../support/stores.ts";
import type { Assignment, ControlCall, ControlResult } from "../control.ts";

interface Fetcher {
  fetch(url: string, init: { method: string; body: string }): Promise<{ json(): Promise<unknown> }>;
}

export interface SuiteEnvironment {
  readonly CONTROL: Fetcher;
  /** The runtime's bindings, named by kind and number: BUCKET_0, KV_0. */
  readonly [binding: string]: unknown;
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

let storeCount = 0;
const nextSlots = { bucket: 0, kv: 0 };

/** Returns stores whose engines are in memory, in the process of the test. */
export function remoteStores(environment: () => SuiteEnvironment): Implementation {
  const call = async (message: ControlCall): Promise<unknown> => {
    const response = await environment().CONTROL.fetch("http://control/", {
      method: "POST",
      body: JSON.stringify(message),
    });
    const result = (await response.json()) as ControlResult;
    if (result.error === undefined) return result.value;
    throw toStoreError(result.error) ?? new Error(result.error);
  };
  return {
    name: "memory",
    openEngine: () => Promise.reject(new Error("An engine cannot be used inside the runtime.")),
    open: (t, options) => openRemote({ t, options, call, environment }),
  };
}

interface Opening {
  readonly t: { after(end: () => unknown): void };
  readonly options: OpenOptions | undefined;
  readonly call: (message: ControlCall) => Promise<unknown>;
  readonly environment: () => SuiteEnvironment;
}

async function openRemote({ t, options, call, environment }: Opening): Promise<Store> {
  const store = storeCount++;
  let clock = options?.now?.();
  const send = (method: string, args: readonly unknown[] = [], assign?: Assignment) => {
    clock = options?.now?.();
    return call({ store, method, args, now: clock, assign });
  };
  await send("open");
  t.after(() => send("close"));

  /** Bindings by their name, and whether their endpoint exists already. */
  const bound = new Map<string, Methods>();

  function bind(
    kind: Assignment["kind"],
    name: string,
    options?: Assignment["options"],
  ): { assign: Assignment; binding: Methods } {
    const slot = nextSlots[kind]++;
    const binding = environment()[`${kind.toUpperCase()}_${slot}`];
    if (binding === undefined) throw new Error(`The configuration of the suite has too few ${kind}s.`);
    return { assign: { kind, slot, name, options }, binding: binding as Methods };
  }

  function bindingOf(kind: Assignment["kind"], name: string, options?: Assignment["options"]): Methods {
    const id = `${kind} ${name}${options === undefined ? "" : JSON.stringify(options)}`;
    const known = bound.get(id);
    if (known !== undefined) return known;
    const { assign, binding } = bind(kind, name, options);
    const assigned = send("assign", [], assign);
    const translated = translating(binding, () => assigned);
    bound.set(id, translated);
    return translated;
  }

  /** The engine has the clock of the test: its time is sent before a call if it has changed. */
  function tick(): Promise<unknown> | undefined {
    return options?.now === undefined || options.now() === clock ? undefined : send("tick");
  }

  async function create(kind: Assignment["kind"], method: string, args: unknown[]): Promise<never> {
    const name = String(args[0]);
    const { assign, binding } = bind(kind, name);
    const made = await send(method, args, assign);
    bound.set(`${kind} ${name}`, translating(binding, tick));
    return withDates(made) as never;
  }

  return {
    createBucket: (...args) => create("bucket", "createBucket", args),
    createKvNamespace: (...args) => create("kv", "createKvNamespace", args),
    bucket: (name, options) => bindingOf("bucket", name, options) as never,
    kv: (name) => bindingOf("kv", name) as never,
    listBuckets: async () => ((await send("listBuckets")) as unknown[]).map(withDates) as never,
    listKvNamespaces: async () => ((await send("listKvNamespaces")) as unknown[]).map(withDates) as never,
    deleteBucket: async (name) => void (await send("deleteBucket", [name])),
    deleteKvNamespace: async (name) => void (await send("deleteKvNamespace", [name])),
    sweep: async () => (await send("sweep")) as never,
    close: async () => void (await send("close")),
  };
}

function withDates(info: unknown): unknown {
  return { ...(info as object), created: new Date((info as { created: string }).created) };
}

/**
 * Returns the binding with values and errors as the contracts expect them. The runtime's errors are
 * plain: action and code are in the message only. `prepare` is awaited before a call, if it must be.
 */
function translating(binding: Methods, prepare: () => Promise<unknown> | undefined): Methods {
  const call = (name: string, args: unknown[]): unknown => {
    const prepared = name === "resumeMultipartUpload" ? undefined : prepare();
    const answer =
      prepared === undefined ? binding[name]!(...args) : prepared.then(() => binding[name]!(...args));
    if (!(answer instanceof Promise)) return translated(answer);
    return answer.then(translated, (error: unknown) => {
      throw toStoreError(String((error as Error)?.message)) ?? error;
    });
  };
  // An upload has methods that fail with errors of the same form.
  const translated = (value: unknown) =>
    isObject(value) && typeof value.uploadPart === "function"
      ? translating(value as Methods, prepare)
      : withoutUndefined(value);
  return withMembers(binding, (name, member) =>
    typeof member === "function" ? (...args: unknown[]) => call(name, args) : member,
  );
}

/**
 * Fields that an object does not have are undefined in the runtime's values, and absent in those of
 * the process tier.
 */
function withoutUndefined(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value.objects)) {
    return defined({ ...value, objects: value.objects.map(withoutUndefined) });
  }
  if (!("checksums" in value)) return value;
  return withMembers(value, (name, member) => {
    if (name === "httpMetadata" || name === "range") return isObject(member) ? defined(member) : member;
    if (name === "checksums") return withMembers(member as object, translateJson);
    return member;
  });
}

function translateJson(name: string, member: unknown): unknown {
  return name === "toJSON" ? () => defined((member as () => object)()) : member;
}

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Returns a view of the object whose members are translated. Methods keep their receiver. */
function withMembers<T extends object>(object: T, translate: (name: string, member: unknown) => unknown): T {
  return new Proxy(object, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      const bound = typeof member === "function" ? member.bind(target) : member;
      return typeof name === "string" ? translate(name, bound) : bound;
    },
  });
}

/** Parses a message `action: detail (code)` or `detail (code)`; undefined if it has another form. */
function toStoreError(message: string): StoreError | undefined {
  const match = /^(?:(\w+): )?(.*) \((\d+)\)$/s.exec(message);
  if (match === null) return undefined;
  const [, action, detail, code] = match;
  const reason = Object.entries(reasonTable).find(([, [known]]) => known === Number(code));
  if (reason === undefined) return undefined;
  return new StoreError(reason[0] as Reason, { action: action as Action | undefined, detail });
}
