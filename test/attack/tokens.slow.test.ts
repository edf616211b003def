// Forged, altered and replayed session tokens: thousands of generated cases, none of which may be
// accepted. Every case is signed as its attacker would sign it.
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { parseGrant } from "../../src/access/grants.ts";
import { createTemporaryCredentials } from "../../src/access/temporary/token.ts";
import { directScene } from "../s3/direct.ts";
import type { Key } from "../s3/scene.ts";

interface ForgedCase {
  readonly what: string;
  readonly key: Key;
  readonly path?: string;
}

const base64url = (text: string) => Buffer.from(text).toString("base64url");

/** Changes one character to each of two others. */
function* altered(key: Key): Generator<ForgedCase> {
  const token = key.sessionToken!;
  for (let i = 0; i < token.length; i++) {
    const replacements = ["A", "_", ".", "="].filter((one) => one !== token[i]).slice(0, 2);
    for (const one of replacements) {
      const sessionToken = token.slice(0, i) + one + token.slice(i + 1);
      yield { what: `character ${i} is "${one}"`, key: { ...key, sessionToken } };
    }
  }
}

function* cutAndExtended(key: Key): Generator<ForgedCase> {
  const token = key.sessionToken!;
  for (let length = 0; length < token.length; length += 3)
    yield { what: `cut to ${length}`, key: { ...key, sessionToken: token.slice(0, length) } };
  for (const more of ["A", ".", ".A", "=", " ", "\0", `.${token}`, ",x", "A".repeat(5000)])
    yield { what: `extended by ${more.slice(0, 10)}`, key: { ...key, sessionToken: token + more } };
  for (const before of ["A", "ST1.", " ", "Bearer "])
    yield { what: `after ${before}`, key: { ...key, sessionToken: before + token } };
}

/** Replaces the content and signs it with keys that an attacker may try. */
function* rewritten(key: Key, parent: Key): Generator<ForgedCase> {
  const [version, issuer, body, mac] = key.sessionToken!.split(".") as [string, string, string, string];
  const content = JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, unknown>;
  const changes: Record<string, unknown>[] = [
    { grants: undefined },
    { grants: [{ bucket: "*", rights: ["admin"] }] },
    { grants: [{ bucket: "photos", rights: ["read"] }] },
    { exp: 4_000_000_000 },
    { exp: (content.exp as number) + 1 },
    { iat: 1 },
    { id: parent.accessKeyId },
    { session: { name: "a", roleCreated: 0 } },
    {},
  ];
  const guesses = [
    ...["", "0", parent.accessKeyId, key.accessKeyId, key.secretAccessKey, mac, body, issuer],
    ...["store temporary credentials: token", "store temporary credentials: secret", "secret"],
  ];
  for (const change of changes) {
    const forgedBody = `${version}.${issuer}.${base64url(JSON.stringify({ ...content, ...change }))}`;
    const changed = JSON.stringify(change);
    if (Object.keys(change).length > 0)
      yield {
        what: `${changed} with the old signature`,
        key: { ...key, sessionToken: `${forgedBody}.${mac}` },
      };
    for (const guess of guesses) {
      const direct = createHmac("sha256", guess).update(forgedBody).digest();
      const label = createHmac("sha256", guess).update("store temporary credentials: token").digest();
      const derived = createHmac("sha256", label).update(forgedBody).digest();
      for (const [name, tag] of [
        ["direct", direct],
        ["derived", derived],
      ] as const) {
        const sessionToken = `${forgedBody}.${tag.toString("base64url")}`;
        yield {
          what: `${changed} signed with ${guess.slice(0, 8)} (${name})`,
          key: { ...key, sessionToken },
        };
      }
    }
  }
  for (const zero of [Buffer.alloc(32), Buffer.alloc(32, 255), Buffer.alloc(0)])
    yield {
      what: "constant signature",
      key: { ...key, sessionToken: `${version}.${issuer}.${body}.${zero.toString("base64url")}` },
    };
}

function* otherIssuers(key: Key, victim: Key): Generator<ForgedCase> {
  const [version, , body, mac] = key.sessionToken!.split(".");
  const names = [
    victim.accessKeyId,
    "role:admin",
    "role:",
    "",
    "../credential",
    "STORE",
    "*",
    "\0",
    "default",
  ];
  for (const name of names) {
    const sessionToken = `${version}.${base64url(name)}.${body}.${mac}`;
    yield { what: `issuer ${JSON.stringify(name)}`, key: { ...key, sessionToken } };
  }
}

function* random(): Generator<ForgedCase> {
  for (let i = 0; i < 300; i++) {
    const parts = [8, 20 + (i % 200), 32].map((bytes) => randomBytes(bytes).toString("base64url"));
    const key = {
      accessKeyId: `TEMP${i}`,
      secretAccessKey: parts[1]!,
      sessionToken: `ST1.${parts.join(".")}`,
    };
    yield { what: `random ${i}`, key };
  }
}

/** Valid parts of different credentials, mixed. */
function* mixed(keys: readonly Key[]): Generator<ForgedCase> {
  for (const id of keys)
    for (const secret of keys)
      for (const token of keys) {
        if (id === secret && secret === token) continue;
        const { accessKeyId } = id;
        const key = {
          accessKeyId,
          secretAccessKey: secret.secretAccessKey,
          sessionToken: token.sessionToken,
        };
        yield { what: "parts of different credentials", key };
      }
}

test("no forged, altered or replayed session token is accepted", async (t) => {
  const {
    ask,
    key: victim,
    newKey,
    credentials,
  } = await directScene(t, {
    failureLimits: { burst: 1e9 },
  });
  await ask({ method: "PUT", path: "/photos" });
  for (const path of ["/photos/mine/a", "/photos/theirs/a"])
    await ask({ method: "PUT", path, body: Buffer.from("bytes") });
  const parent = await newKey();
  const make = (from: Key, lifetimeSeconds = 900, now = Date.now()) =>
    createTemporaryCredentials(
      { id: from.accessKeyId, secret: from.secretAccessKey },
      { grants: [parseGrant("photos/mine/*:read")], lifetimeSeconds, now },
    );
  const given = make(parent);
  const get = (key: Key, form: "header" | "query", path = "/photos/mine/a") =>
    ask({ method: "GET", path }, { key, form });
  for (const form of ["header", "query"] as const)
    assert.equal((await get(given, form)).status, 200, "the original token is accepted");

  const rotated = await newKey();
  const ofRotated = make(rotated);
  await credentials.rotate(rotated.accessKeyId);
  const deleted = await newKey();
  const ofDeleted = make(deleted);
  await credentials.delete(deleted.accessKeyId);
  const replayed: ForgedCase[] = [
    { what: "expired", key: make(parent, 60, Date.now() - 60_000) },
    { what: "expired a week ago", key: make(parent, 3600, Date.now() - 7 * 24 * 3600_000) },
    { what: "issued in the future", key: make(parent, 60, Date.now() + 3600_000) },
    { what: "access key rotated", key: ofRotated },
    { what: "access key deleted", key: ofDeleted },
    { what: "outside of the prefix", key: given, path: "/photos/theirs/a" },
    { what: "another bucket", key: given, path: "/" },
  ];
  const cases = [
    ...altered(given),
    ...cutAndExtended(given),
    ...rewritten(given, parent),
    ...otherIssuers(given, victim),
    ...random(),
    ...mixed([given, make(parent), make(victim), make(await newKey())]),
    ...replayed.filter(({ path }) => path !== "/"),
  ];
  let count = 0;
  const refusals = new Map<string, number>();
  for (const form of ["header", "query"] as const) {
    for (const { what, key, path } of cases) {
      const { status, code, text } = await get(key, form, path);
      assert.ok(status === 400 || status === 403, `${what} (${form}): ${status} ${text}`);
      assert.ok(!text.includes(parent.secretAccessKey), "no error contains a secret");
      refusals.set(code ?? "", (refusals.get(code ?? "") ?? 0) + 1);
      count++;
    }
  }
  assert.ok(count >= 1000, `${count} cases`);
  t.diagnostic(`${count} forged tokens, 0 accepted: ${JSON.stringify(Object.fromEntries(refusals))}`);
  assert.equal((await get(given, "header")).status, 200, "the original token is still accepted");
});
