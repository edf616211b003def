// Lifecycle rules and hostile clients against locked objects: whatever runs at the same time, and also
// after the clock was set forward, no version vanishes before its lock ends.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { Engine } from "../../src/engine/engine.ts";
import type { LifecycleRule } from "../../src/model/settings/lifecycle.ts";
import { openEngine } from "../../src/open.ts";
import { type DirectAnswer, directScene } from "../s3/direct.ts";
import { type Random, seeded } from "../support/random.ts";
import { temporaryDirectory } from "../support/stores.ts";

const bucket = "archive";
const day = 24 * 3600 * 1000;
const names = Array.from({ length: 6 }, (_, i) => `logs/${i}`);
const rounds = 25;

/** Every kind of rule, all due after a day. */
const lifecycle: LifecycleRule[] = [
  { id: "expire", isEnabled: true, prefix: "logs/", expire: { days: 2 } },
  { id: "move", isEnabled: true, prefix: "logs/", transition: { days: 1 } },
  { id: "noncurrent", isEnabled: true, prefix: "", expireNoncurrent: { days: 2 } },
  { id: "move noncurrent", isEnabled: true, prefix: "logs/", transitionNoncurrent: { days: 1 } },
  { id: "markers", isEnabled: true, prefix: "", expireMarkers: true },
  { id: "uploads", isEnabled: true, prefix: "", abortUploadsAfter: 1 },
];

/** A version whose lock was acknowledged. */
interface Locked {
  readonly key: string;
  readonly version: string;
  readonly body: string;
  readonly mode: "GOVERNANCE" | "COMPLIANCE" | "hold";
  /** Infinity: a legal hold. */
  readonly until: number;
}

interface Scene {
  readonly engine: Engine;
  readonly clock: { time: number };
  readonly locked: Map<string, Locked>;
  readonly random: Random;
  ask(method: string, key: string, sent?: Sent): Promise<DirectAnswer>;
  /** Puts a version and returns its id. */
  put(key: string, body: string, headers?: Readonly<Record<string, string>>): Promise<string>;
}

interface Sent {
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** With a key that may delete, but not bypass governance. */
  readonly isWeak?: true;
}

async function openScene(t: TestContext, location: string, random: Random): Promise<Scene> {
  const clock = { time: Date.now() };
  const { engine, documents } = await openEngine(location, { now: () => clock.time });
  t.after(() => engine.close());
  const direct = await directScene(t, {}, { engine, documents });
  await engine.createBucket(bucket);
  await engine.changeSettings(bucket, { versioning: "on", objectLock: {}, lifecycle });
  const weak = await direct.newKey({ grants: [{ bucket, rights: ["read", "write", "list", "delete"] }] });
  const ask: Scene["ask"] = (method, key, { query = [], headers = {}, body, isWeak } = {}) =>
    direct.ask(
      {
        ...{ method, headers, path: key === "" ? `/${bucket}` : `/${bucket}/${key}` },
        query: query.map(([name, value]): [string, string] => [name, value]),
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
      },
      isWeak === undefined ? {} : { key: weak },
    );
  return {
    ...{ engine, clock, random, ask, locked: new Map() },
    async put(key, body, headers = {}) {
      const answer = await ask("PUT", key, { headers: { ...md5(body), ...headers }, body });
      assert.equal(answer.status, 200, answer.text);
      return answer.headers["x-amz-version-id"]!;
    },
  };
}

function md5(body: string): Readonly<Record<string, string>> {
  return { "content-md5": createHash("md5").update(body).digest("base64") };
}

/** Locks a version as it is put, or later, while rules run. */
async function lock(scene: Scene): Promise<void> {
  const { random, clock, put, ask, locked } = scene;
  const key = random.pick(names);
  const body = `body ${random.below(1e9)}`;
  const mode = random.pick(["GOVERNANCE", "COMPLIANCE", "hold"] as const);
  const until = mode === "hold" ? Number.POSITIVE_INFINITY : clock.time + (2 + random.below(10)) * day;
  const date = mode === "hold" ? "" : new Date(until).toISOString();
  if (random.below(2) === 0) {
    const headers: Record<string, string> =
      mode === "hold"
        ? { "x-amz-object-lock-legal-hold": "ON" }
        : { "x-amz-object-lock-mode": mode, "x-amz-object-lock-retain-until-date": date };
    const version = await put(key, body, headers);
    locked.set(version, { key, version, body, mode, until });
    return;
  }
  const { versions } = await scene.engine.listVersions(bucket);
  const found = versions.filter(({ version }) => "etag" in version && !locked.has(version.version));
  if (found.length === 0) return;
  const { version } = random.pick(found);
  const got = await ask("GET", version.key, { query: [["versionId", version.version]] });
  if (got.status !== 200) return;
  const [name, document] =
    mode === "hold"
      ? ["legal-hold", "<LegalHold><Status>ON</Status></LegalHold>"]
      : [
          "retention",
          `<Retention><Mode>${mode}</Mode><RetainUntilDate>${date}</RetainUntilDate></Retention>`,
        ];
  const query = [
    [name!, ""],
    ["versionId", version.version],
  ] as const;
  const answer = await ask("PUT", version.key, { headers: md5(document!), body: document!, query });
  // A rule may have removed it first; once the lock is acknowledged, it must stay.
  if (answer.status === 200)
    locked.set(version.version, { key: version.key, version: version.version, body: got.text, mode, until });
  else assert.equal(answer.status, 404, answer.text);
}

const attacks: readonly ((scene: Scene, target: Locked) => Promise<unknown>)[] = [
  ({ ask }, { key }) => ask("DELETE", key),
  ({ ask }, { key, version, mode }) =>
    ask("DELETE", key, {
      query: [["versionId", version]],
      headers: { "x-amz-bypass-governance-retention": "true" },
      ...(mode === "GOVERNANCE" ? { isWeak: true } : {}),
    }),
  ({ ask }, { key, version }) => {
    const object = `<Object><Key>${key}</Key><VersionId>${version}</VersionId></Object>`;
    const body = `<Delete>${object}${object}<Object><Key>${key}</Key></Object></Delete>`;
    return ask("POST", "", { headers: md5(body), body, query: [["delete", ""]] });
  },
  ({ ask, clock }, { key, version, mode }) => {
    const date = new Date(clock.time + 1000).toISOString();
    const document = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${date}</RetainUntilDate></Retention>`;
    const headers = { "x-amz-bypass-governance-retention": "true" };
    return ask("PUT", key, {
      headers: { ...md5(document), ...headers },
      body: document,
      query: [
        ["retention", ""],
        ["versionId", version],
      ],
      ...(mode === "GOVERNANCE" ? { isWeak: true } : {}),
    });
  },
  // An object copied onto itself with other metadata, with and without a version of the source.
  ({ ask, random }, { key, version }) =>
    ask("PUT", key, {
      headers: {
        "x-amz-copy-source": `/${bucket}/${key}${random.below(2) === 0 ? "" : `?versionId=${version}`}`,
        "x-amz-metadata-directive": "REPLACE",
        "x-amz-meta-by": "attacker",
        "x-amz-storage-class": "STANDARD_IA",
      },
    }),
  async ({ ask }, { key }) => {
    const created = await ask("POST", key, { query: [["uploads", ""]] });
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(created.text)![1]!;
    const part = await ask("PUT", key, {
      body: "part",
      query: [
        ["partNumber", "1"],
        ["uploadId", uploadId],
      ],
    });
    const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part>`;
    const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
    await ask("POST", key, { body, query: [["uploadId", uploadId]] });
  },
  ({ ask }, { key, version }) => {
    const body = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
    return ask("PUT", key, {
      headers: md5(body),
      body,
      query: [
        ["tagging", ""],
        ["versionId", version],
      ],
    });
  },
  ({ engine }, { key, version }) =>
    engine
      .restoreVersion(bucket, key, version)
      .catch((error: unknown) => assert.match(String(error), /version/)),
  ({ engine, clock }) => engine.restorePage(bucket, { time: clock.time - 3 * day }),
  ({ engine }) => engine.encryption.apply({ bucket }),
  async ({ ask }) => {
    const body = "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
    assert.equal((await ask("PUT", "", { body, query: [["versioning", ""]] })).status, 409);
  },
  async ({ ask }) => assert.equal((await ask("DELETE", "")).code, "BucketNotEmpty"),
  async ({ engine }) => {
    await assert.rejects(engine.changeSettings(bucket, { objectLock: undefined }));
    await engine.changeSettings(bucket, { lifecycle });
  },
];

/** Every version whose lock was acknowledged and has not ended is there, and still locked. */
async function assertKept({ ask, engine, clock, locked }: Scene): Promise<void> {
  for (const { key, version, body, until, mode } of locked.values()) {
    if (until <= clock.time) {
      locked.delete(version);
      continue;
    }
    const what = `${key} ${version} with ${mode} until ${until}`;
    const got = await ask("GET", key, { query: [["versionId", version]] });
    assert.deepEqual([got.status, got.text], [200, body], what);
    const lock = (await engine.head(bucket, key, { version }))?.lock;
    if (mode === "hold") assert.equal(lock?.legalHold, true, what);
    else assert.ok(lock!.retention!.until >= until, what);
  }
}

for (const adapter of ["memory", "local"] as const) {
  test(`no locked version vanishes before its time in races of rules and clients in ${adapter}`, async (t) => {
    await seeded(async (random) => {
      const scene = await openScene(
        t,
        adapter === "memory" ? "memory:" : await temporaryDirectory(t),
        random,
      );
      const { engine, clock, locked } = scene;
      const done = { expired: 0, moved: 0, versions: 0, uploads: 0, checked: 0 };
      for (let round = 0; round < rounds; round++) {
        for (const name of names) if (random.below(6) === 0) await scene.put(name, `plain ${round}`);
        await engine.createUpload(bucket, names[0]!);
        const targets = [...locked.values()];
        const sweeps = async () => {
          for (let i = 0; i < 3; i++) {
            const report = await engine.sweep();
            done.expired += report.objectsExpired;
            done.moved += report.objectsMoved;
            done.versions += report.versionsExpired;
            done.uploads += report.uploadsAborted;
          }
        };
        const attack = async () => {
          for (let i = 0; i < 6 && targets.length > 0; i++) {
            await random.pick(attacks)(scene, random.pick(targets));
          }
        };
        const locking = async () => {
          for (let i = 0; i < 4; i++) await lock(scene);
        };
        await Promise.all([sweeps(), attack(), locking(), attack(), sweeps()]);
        await assertKept(scene);
        done.checked += locked.size;
        // Sometimes the clock jumps, also past the end of some retentions.
        clock.time += random.pick([day / 2, day, 3 * day]);
      }
      for (const [what, count] of Object.entries(done)) assert.ok(count > 0, `no ${what}`);

      // Once all locks have ended, the rules leave nothing behind.
      for (const { key, version, mode } of locked.values()) {
        if (mode === "hold") await engine.setLegalHold(bucket, key, false, { version });
      }
      for (let i = 0; i < 12; i++) {
        clock.time += 5 * day;
        await engine.sweep();
      }
      assert.deepEqual((await engine.listVersions(bucket)).versions, []);
      await engine.deleteBucket(bucket);
    });
  });
}
