// A client and a started store with keys for it. The client has a home of its own, so nothing of the user's is
// read, and no call of it may hang.
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { HeadObjectCommand, ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import { type Outcome, outcomeOf } from "../cli/store.ts";
import { type S3Scene, s3Scene } from "../s3/scene.ts";
import { type ClientName, obstacleTo, programOf, titleOf } from "./clients.ts";

export interface ClientScene {
  readonly s3: S3Scene;
  /** Where the client runs, and finds its home. */
  readonly directory: string;
  path(...names: string[]): string;
  start(args: readonly string[], environment?: Environment): ChildProcessWithoutNullStreams;
  call(args: readonly string[], options?: CallOptions): Promise<Outcome>;
  /** What it printed; it must end well. */
  run(...args: string[]): Promise<string>;
  /** In how many parts an object was sent or copied, which few clients tell. */
  parts(bucket: string, key: string): Promise<number>;
}

export type Environment = Readonly<Record<string, string>>;

export interface CallOptions {
  readonly environment?: Environment;
  readonly input?: string | Uint8Array;
}

export interface Settings {
  /** Of every call. */
  readonly environment?: Environment;
  /** In front of what every call is given. */
  readonly args?: readonly string[];
}

/** What the S3 API is called where buckets stand in front of its name. */
export const domain = "s3.example.test";

const patienceForCall = 60_000;
/** Below that of the whole file, so that what a test began is ended and unmounted by the test itself. */
const patienceForClient = 480_000;

/** The everyday jobs of a client, or the reason why it cannot be tested here. */
export function everydayJobs(
  name: ClientName,
  settings: (s3: S3Scene, directory: string) => Promise<Settings>,
  jobs: (t: TestContext, scene: ClientScene) => Promise<void>,
): void {
  const skip = obstacleTo(name) ?? false;
  test(titleOf(name), { skip, timeout: patienceForClient }, async (t) => {
    const s3 = await s3Scene(t, "serve", ["--s3-domain", domain]);
    const directory = join(s3.scene.directory, "client");
    await mkdir(directory);
    await jobs(t, clientScene(name, s3, directory, await settings(s3, directory)));
    await t.test("leaves no upload open, nothing damaged and no error behind", async () => {
      const { Uploads } = await s3.client().send(new ListMultipartUploadsCommand({ Bucket: "bucket" }));
      assert.equal(Uploads, undefined);
      await s3.scene.shell.store("verify", "--data", s3.data);
      assert.doesNotMatch(s3.server.log(), /failed|ended/i);
    });
  });
}

function clientScene(name: ClientName, s3: S3Scene, directory: string, settings: Settings): ClientScene {
  const program = programOf(name);
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
    const late = setTimeout(() => child.kill("SIGKILL"), patienceForCall);
    // A client that does not read its input may end before it was sent.
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

export function assertDone({ code, stdout, stderr }: Outcome, called: string): void {
  assert.equal(code, 0, `${called}\n${stdout}${stderr}`);
}
