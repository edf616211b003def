// State of a model test: the model, the clock, and uploads and cursors that commands refer to. The
// log of all tasks lets the model be rebuilt with or without writes that a crash left in doubt.
import type { VersionOptions } from "../../../src/engine/engine.ts";
import type { ListedVersion } from "../../../src/engine/records.ts";
import type { VersionPosition } from "../../../src/model/listing.ts";
import type { ObjectRecord } from "../../../src/model/object.ts";
import { createContents } from "./contents.ts";
import { type Answer, bucketName, type Operation, type Task } from "./operation.ts";
import { createModel } from "./side.ts";
import { createLocks } from "./versions/locks.ts";

export interface KnownUpload {
  readonly key: string;
  readonly id: string;
  readonly ssecKey: string | undefined;
  /** Checksum algorithm of the parts (S3 API only). */
  readonly algorithm: string | undefined;
  readonly parts: Map<number, string>;
}

export interface World {
  readonly now: number;
  /** All uploads ever created, the newest last. */
  readonly uploads: readonly KnownUpload[];
  readonly cursor: string | undefined;
  /** Position after the last page of versions that did not end the listing. */
  readonly versionCursor: VersionPosition | undefined;
  object(key: string): Promise<ObjectRecord | undefined>;
  /** Returns the object that a read of a version or as of a time finds. */
  read(key: string, options: VersionOptions): Promise<ObjectRecord | undefined>;
  /** Returns this key, or the next key that has an object. */
  keyThatIsThere(key: string): Promise<string>;
  /** Returns the versions of this key, newest first; if it has none, of the next key that has any. */
  versions(key: string): Promise<readonly ListedVersion[]>;
  /** Whether deletes write delete markers. */
  isVersioned(): Promise<boolean>;
  /** Returns the IDs of the uploads in flight. */
  activeUploads(): Promise<ReadonlySet<string>>;
  advance(milliseconds: number): void;
  task(operation: Operation): Task;
  /** Applies the task to the model. */
  apply(task: Task): Promise<Answer>;
  /** Returns a new model on which the log and then these tasks are replayed. */
  fork(tasks: readonly Task[]): Promise<Fork>;
  close(): Promise<void>;
}

export interface Fork {
  readonly answers: readonly Answer[];
  /** Performs an operation on the fork without logging it. */
  look(operation: Operation): Promise<Answer>;
  /** Makes the fork the current model. */
  take(): Promise<void>;
  drop(): Promise<void>;
}

const start = Date.UTC(2026, 0, 15, 11, 59, 58);

export async function createWorld(name: string): Promise<World> {
  let model = await createModel(start);
  let now = start;
  let drawn = 0;
  let cursor: string | undefined;
  let versionCursor: VersionPosition | undefined;
  let locks = createLocks();
  const log: Task[] = [];
  const uploads: KnownUpload[] = [];
  const contents = createContents();

  function note({ operation }: Task, answer: Answer): void {
    contents.watch(operation, answer);
    if (operation.do === "list versions")
      versionCursor = (JSON.parse(answer) as { next?: VersionPosition }).next ?? versionCursor;
    if (operation.do === "list" || operation.do === "list at")
      cursor = (JSON.parse(answer) as { cursor?: string }).cursor ?? cursor;
    const made = madeUpload(operation, answer);
    if (made !== undefined) uploads.push(made);
    const part = madePart(operation, answer);
    if (part !== undefined) uploads.find(({ id }) => id === part.id)?.parts.set(part.number, part.etag);
  }

  async function apply(task: Task): Promise<Answer> {
    const answer = await model.perform(task);
    log.push(task);
    note(task, answer);
    await locks.watch(model.engine, task);
    return answer;
  }

  async function replayed(tasks: readonly Task[]) {
    const side = await createModel(start);
    for (const task of log) await side.perform(task);
    const watching = locks.copy();
    const answers: Answer[] = [];
    for (const task of tasks) {
      answers.push(await side.perform(task));
      await watching.watch(side.engine, task);
    }
    return { side, answers, watching };
  }

  async function versions(key: string): Promise<readonly ListedVersion[]> {
    const { engine } = model;
    const after = { kind: "key", value: key } as const;
    for (const options of [{ prefix: key }, { after }, {}]) {
      const found = (await engine.listVersions(bucketName, options)).versions;
      const wanted = "prefix" in options ? key : found[0]?.version.key;
      const ofKey = found.filter(({ version }) => version.key === wanted);
      if (ofKey.length > 0) return ofKey;
    }
    return [];
  }

  return {
    get now() {
      return now;
    },
    uploads,
    get cursor() {
      return cursor;
    },
    get versionCursor() {
      return versionCursor;
    },
    versions,
    async isVersioned() {
      return (await model.engine.bucket(bucketName))!.settings.versioning !== undefined;
    },
    object: (key) => model.engine.head(bucketName, key),
    read: (key, options) => model.engine.head(bucketName, key, options),
    async keyThatIsThere(key) {
      if ((await model.engine.head(bucketName, key)) !== undefined) return key;
      const { objects } = await model.engine.list(bucketName, { startAfter: key, limit: 1 });
      if (objects.length > 0) return objects[0]!.key;
      return (await model.engine.list(bucketName, { limit: 1 })).objects[0]?.key ?? key;
    },
    async activeUploads() {
      return new Set((await model.engine.listUploads(bucketName)).uploads.map(({ id }) => id));
    },
    advance(milliseconds) {
      now += milliseconds;
    },
    task(operation) {
      // Advance by 7 ms, so that dates differ and are not whole seconds.
      now += 7;
      return { operation, now, draw: `${name} ${drawn++}` };
    },
    apply,
    async fork(tasks) {
      const { side, answers, watching } = await replayed(tasks);
      return {
        answers,
        look: (operation) => side.perform({ operation, now, draw: "" }),
        async take() {
          for (const [i, task] of tasks.entries()) note(task, answers[i]!);
          log.push(...tasks);
          await model.engine.close();
          model = side;
          locks = watching;
        },
        drop: () => side.engine.close(),
      };
    },
    close: () => model.engine.close(),
  };
}

function madeUpload(operation: Operation, answer: Answer): KnownUpload | undefined {
  const isCreated =
    operation.do === "create upload" ||
    (operation.do === "s3" && operation.method === "POST" && operation.query?.[0]?.[0] === "uploads");
  const id = isCreated ? /<UploadId>(\w+)<|"uploadId":"(\w+)"/.exec(answer) : null;
  if (!isCreated || id === null) return undefined;
  const headers = operation.do === "s3" ? operation.headers : undefined;
  const sealed = headers?.["x-amz-server-side-encryption-customer-key"];
  return {
    key: operation.key!,
    id: id[1] ?? id[2]!,
    ssecKey:
      operation.do === "s3"
        ? sealed && Buffer.from(sealed, "base64").toString("hex")
        : operation.options.ssecKey,
    algorithm: headers?.["x-amz-checksum-algorithm"]?.toLowerCase(),
    parts: new Map(),
  };
}

function madePart(operation: Operation, answer: Answer) {
  if (operation.do === "upload part") {
    const { etag } = JSON.parse(answer) as { etag?: string };
    return etag === undefined ? undefined : { id: operation.upload.id, number: operation.number, etag };
  }
  if (operation.do !== "s3" || operation.method !== "PUT") return undefined;
  const query = new Map(operation.query);
  const etag = /\["etag","\\"(\w+)\\""\]|<ETag>(?:"|\\"|&quot;)(\w+)/.exec(answer);
  const number = Number(query.get("partNumber"));
  if (etag === null || !(number > 0)) return undefined;
  return { id: query.get("uploadId") ?? "", number, etag: etag[1] ?? etag[2]! };
}
