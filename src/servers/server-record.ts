// The record that a running server keeps in the store, so that commands on the same store find it:
// on a data directory as well as on a cluster. A server renews its record; a crashed one does not.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Documents } from "../engine/records.ts";
import { withoutPasswords } from "../model/names/location.ts";
import { type Fields, isCount, isFields, isList, isText } from "../model/shape.ts";

export interface ServerRecord {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly node: string;
  readonly mode: string;
  /** Milliseconds since the epoch. */
  readonly started: number;
  /** When the server renewed this record. */
  readonly seen: number;
  readonly ports: readonly ServerPort[];
  /** Certificate file of all ports. */
  readonly certificate?: string | undefined;
  /** Path of the request log; "-" is the server's standard output. */
  readonly requestLog?: string | undefined;
  readonly scripts: readonly string[];
  /** The buckets that each script is bound to. Undefined: a server of an earlier version. */
  readonly bindings?: readonly ScriptBuckets[] | undefined;
  /** The latest lines of the server's log, oldest first. */
  readonly messages: readonly ServerMessage[];
}

/** A script and the names of the buckets that its configuration binds. */
export interface ScriptBuckets {
  readonly name: string;
  readonly buckets: readonly string[];
}

export interface ServerPort {
  readonly name: string;
  readonly url: string;
}

export interface ServerMessage {
  readonly time: number;
  readonly text: string;
}

const kind = "server";
const renewMilliseconds = 30_000;
/** Renewals may be late on a busy machine. */
const staleMilliseconds = 4 * renewMilliseconds;
const maxText = 4096;
const maxMessages = 20;
const maxMessageLength = 300;

export interface RecentMessages {
  add(text: string): void;
  list(): readonly ServerMessage[];
}

export function createRecentMessages(now: () => number): RecentMessages {
  const messages: ServerMessage[] = [];
  return {
    add(text) {
      const line = withoutPasswords(text).slice(0, maxMessageLength);
      messages.push({ time: now(), text: line });
      if (messages.length > maxMessages) messages.shift();
    },
    list: () => messages,
  };
}

type Described = Omit<ServerRecord, "host" | "pid" | "node" | "started" | "seen">;

export interface RecordKeeper {
  /** Writes the record again, after a change of what it describes. */
  renew(): void;
  close(): Promise<void>;
}

/** Writes the record now and regularly, and removes it at the end. */
export async function keepServerRecord(
  documents: Documents,
  describe: () => Described,
): Promise<RecordKeeper> {
  const name = randomUUID();
  const started = Date.now();
  const own = { host: hostname(), pid: process.pid, node: process.versions.node, started };
  let writing: Promise<unknown> = Promise.resolve();
  const write = async () => {
    const revision = (await documents.get(kind, name))?.revision;
    await documents.put(
      kind,
      name,
      JSON.stringify({ ...own, ...describe(), seen: Date.now() } satisfies ServerRecord),
      revision,
    );
  };
  const renew = () => {
    // A store that cannot be written is reported by the readiness check; the record only gets old.
    writing = writing.then(write).catch(() => {});
  };
  renew();
  await writing;
  const timer = setInterval(renew, renewMilliseconds).unref();
  return {
    renew,
    async close() {
      clearInterval(timer);
      await writing;
      await documents.delete(kind, name).catch(() => {});
    },
  };
}

/** Returns the servers that run now, oldest first. Removes records of servers that crashed. */
export async function listServers(documents: Documents, now = Date.now()): Promise<ServerRecord[]> {
  const running: ServerRecord[] = [];
  for (const { name, text } of await documents.list(kind)) {
    const record = parseRecord(text);
    if (record !== undefined && isRunning(record, now)) running.push(record);
    else if (record === undefined || isOver(record, now)) await documents.delete(kind, name).catch(() => {});
  }
  return running.sort((a, b) => a.started - b.started);
}

/** Returns the scripts of all running servers. A script may run on several servers. */
export async function listRunningScripts(documents: Documents): Promise<ScriptBuckets[]> {
  return (await listServers(documents)).flatMap(
    ({ scripts, bindings = scripts.map((name) => ({ name, buckets: [] })) }) => bindings,
  );
}

/** On the same machine the process is looked up, so that a crash is noticed at once. */
function isRunning(record: ServerRecord, now: number): boolean {
  return now - record.seen < staleMilliseconds && !(isHere(record) && !hasProcess(record.pid));
}

/** Records of other machines are removed late: their clocks may differ. */
function isOver(record: ServerRecord, now: number): boolean {
  return isHere(record) ? !hasProcess(record.pid) : now - record.seen > 24 * 3600 * 1000;
}

export function isHere({ host }: Pick<ServerRecord, "host">): boolean {
  return host === hostname();
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function parseRecord(text: string): ServerRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isFields(value) && isRecord(value) ? (value as unknown as ServerRecord) : undefined;
}

function isRecord(value: Fields): boolean {
  const { host, version, node, mode, pid, started, seen, ports, scripts, messages } = value;
  const { certificate = "", requestLog = "", bindings = [] } = value;
  return (
    [host, version, node, mode, certificate, requestLog].every((text) => isText(text, maxText)) &&
    [pid, started, seen].every(isCount) &&
    isList(ports, 100, isPort) &&
    isList(scripts, 10_000, isName) &&
    isList(bindings, 10_000, isScriptBuckets) &&
    isList(messages, maxMessages, isMessage)
  );
}

function isName(value: unknown): value is string {
  return isText(value, maxText);
}

function isScriptBuckets(value: unknown): value is ScriptBuckets {
  return isFields(value) && isName(value.name) && isList(value.buckets, 10_000, isName);
}

function isPort(value: unknown): value is ServerPort {
  return isFields(value) && isText(value.name, 100) && isText(value.url, maxText) && URL.canParse(value.url);
}

function isMessage(value: unknown): value is ServerMessage {
  return isFields(value) && isCount(value.time) && isText(value.text, maxText);
}
