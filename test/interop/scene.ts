// Runs an S3 client against a started store. The client has its own home directory, so that it
// reads no configuration of the user, and each call has a timeout.
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { HeadObjectCommand, ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import { type Outcome, outcomeOf } from "../cli/store.ts";
import { type Key, type S3Scene, s3Scene } from "../s3/scene.ts";
import { type ClientName, findObstacle, programPath, testTitle } from "./clients.ts";

export interface ClientScene {
  readonly s3: S3Scene;
  /** Working and home directory of the client. */
  readonly directory: string;
  path(...names: string[]): string;
  start(args: readonly string[], environment?: Environment): ChildProcessWithoutNullStreams;
  call(args: readonly string[], options?: CallOptions): Promise<Outcome>;
  /** Runs the client, asserts exit code 0 and returns its stdout. */
  run(...args: string[]): Promise<string>;
  /** Returns the number of parts of an object, from its etag. */
  parts(bucket: string, key: string): Promise<number>;
}

export type Environment = Readonly<Record<string, string>>;

export interface CallOptions {
  readonly environment?: Environment;
  readonly input?: string | Uint8Array;
}

export interface Settings {
  /** Environment variables of every call. */
  readonly environment?: Environment;
  /** Arguments that precede the arguments of every call. */
  readonly args?: readonly string[];
}

/** Base domain for virtual-hosted-style requests. */
export const domain = "s3.example.test";

const callTimeout = 60_000;
/** Timeout of a client's test, shorter than the file's timeout, so that the test can clean up. */
const clientTimeout = 480_000;

/** Runs the jobs of a client as a test; skips it with a reason if the client cannot run here. */
export function everydayJobs(
  name: ClientName,
  settings: (s3: S3Scene, directory: string) => Promise<Settings>,
  jobs: (t: TestContext, scene: ClientScene) => Promise<void>,
): void {
  const skip = findObstacle(name) ?? false;
  test(testTitle(name), { skip, timeout: clientTimeout }, async (t) => {
    const s3 = await s3Scene(t, "serve", ["--s3-domain", domain]);
    const directory = join(s3.scene.directory, "client");
    await mkdir(directory);
    await jobs(t, clientScene(name, s3, directory, await settings(s3, directory)));
    await t.test(`${name} leaves no open upload, no damage and no logged error`, async () => {
      const { Uploads } = await s3.client().send(new ListMultipartUploadsCommand({ Bucket: "bucket" }));
      assert.equal(Uploads, undefined);
      await s3.scene.shell.store("verify", "--data", s3.data);
      assert.doesNotMatch(s3.server.log(), /failed|ended/i);
    });
  });
}

function clientScene(name: ClientName, s3: S3Scene, directory: string, settings: Settings): ClientScene {
  const program = programPath(name);
  function start(args: readonly string[], environment: Environment = {}) {
    const env = {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: directory,
      TMPDIR: directory,
      LC_ALL: "C.UTF-8",
      ...settings.environment,
      ...environment,
    };
    return spawn(program, [...(settings.args ?? []), ...args], { cwd: directory, env });
  }
  async function call(args: readonly string[], { environment, input = "" }: CallOptions = {}) {
    const child = start(args, environment);
    const late = setTimeout(() => child.kill("SIGKILL"), callTimeout);
    // A client that does not read its input may exit before the input is written.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    try {
      return await outcomeOf(child);
    } finally {
      clearTimeout(late);
    }
  }
  return {
    s3,
    directory,
    path: (...names) => join(directory, ...names),
    start,
    call,
    async run(...args) {
      const outcome = await call(args);
      assertDone(outcome, `${name} ${args.join(" ")}`);
      return outcome.stdout;
    },
    async parts(Bucket, Key) {
      const { ETag } = await s3.client().send(new HeadObjectCommand({ Bucket, Key }));
      return Number(/-(\d+)"$/.exec(ETag!)?.[1] ?? 1);
    },
  };
}

/** Creates temporary credentials with `store key temp`. */
export async function temporaryCredentials(s3: S3Scene, ...grants: string[]): Promise<Required<Key>> {
  const options = ["--key", s3.key.accessKeyId, ...grants.flatMap((grant) => ["--grant", grant])];
  const outcome = await s3.scene.shell.run(["key", "temp", ...options, "--data", s3.data, "--json"]);
  assertDone(outcome, "store key temp");
  const made = JSON.parse(outcome.stdout) as Record<string, string>;
  return {
    accessKeyId: made.AccessKeyId!,
    secretAccessKey: made.SecretAccessKey!,
    sessionToken: made.SessionToken!,
  };
}

export function assertDone({ code, stdout, stderr }: Outcome, command: string): void {
  assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
}
