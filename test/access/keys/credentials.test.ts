// Tests access keys on every implementation of documents, and the parsing of grants and durations.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { formatGrant, parseDuration, parseGrant } from "../../../src/access/grants.ts";
import { createCredentials, toOwner } from "../../../src/access/keys/credentials.ts";
import { defaultAccount } from "../../../src/model/bucket.ts";
import { portPairs } from "../../support/ports.ts";

const start = Date.UTC(2026, 10, 15);
const day = 24 * 3600 * 1000;

async function openCredentials(t: TestContext, pair: (typeof portPairs)[number]) {
  const { documents } = (await pair.open(t)).records;
  const clock = { time: start, now: () => clock.time };
  const key = randomBytes(32);
  return { documents, clock, key, credentials: createCredentials(documents, key, clock.now) };
}

for (const pair of portPairs) {
  test(`access keys are created, changed and found in ${pair.name} documents`, async (t) => {
    await t.test("a new access key has a unique id and secret and full access to its account", async (t) => {
      const { credentials } = await openCredentials(t, pair);
      const made = await Promise.all(Array.from({ length: 5 }, () => credentials.create()));
      for (const credential of made) {
        assert.match(credential.accessKeyId, /^STORE[A-Z2-7]{15}$/);
        assert.match(credential.secretAccessKey, /^[A-Za-z0-9_-]{40}$/);
        assert.deepEqual(credential, {
          accessKeyId: credential.accessKeyId,
          account: defaultAccount,
          name: undefined,
          grants: undefined,
          created: start,
          expires: undefined,
          limits: undefined,
          state: "active",
          previousUntil: undefined,
          secretAccessKey: credential.secretAccessKey,
          secrets: [credential.secretAccessKey],
        });
        assert.deepEqual(await credentials.find(credential.accessKeyId), credential);
      }
      assert.equal(new Set(made.flatMap((one) => [one.accessKeyId, one.secretAccessKey])).size, 10);
    });

    await t.test(
      "an access key keeps its account, grants and expiry, and grants on one bucket are merged",
      async (t) => {
        const { credentials, clock } = await openCredentials(t, pair);
        const grants = ["photos:read", "*:list", "photos:write,read"].map(parseGrant);
        const { accessKeyId } = await credentials.create({ account: "team-1", grants, expires: start + day });
        const found = await credentials.find(accessKeyId);
        assert.equal(found?.account, "team-1");
        assert.deepEqual(found?.grants, [
          { bucket: "photos", rights: ["read", "write"] },
          { bucket: "*", rights: ["list"] },
        ]);
        assert.deepEqual([found?.expires, found?.state], [start + day, "active"]);
        clock.time = start + day - 1;
        assert.equal((await credentials.find(accessKeyId))?.state, "active");
        clock.time = start + day;
        assert.equal((await credentials.find(accessKeyId))?.state, "expired");
      },
    );

    await t.test("an access key with an empty list of grants has no access", async (t) => {
      const { credentials } = await openCredentials(t, pair);
      const { accessKeyId } = await credentials.create({ grants: [] });
      const found = await credentials.find(accessKeyId);
      assert.deepEqual(found?.grants, []);
    });

    await t.test("the list of access keys is sorted by account and age and contains no secret", async (t) => {
      const { credentials, clock } = await openCredentials(t, pair);
      const made = [];
      for (const account of ["b", "a", "b"]) {
        clock.time += 1000;
        made.push(await credentials.create({ account }));
      }
      const listed = await credentials.list();
      assert.deepEqual(
        listed.map(({ accessKeyId }) => accessKeyId),
        [made[1], made[0], made[2]].map((one) => one?.accessKeyId),
      );
      for (const { secretAccessKey } of made) {
        assert.equal(JSON.stringify(listed).includes(secretAccessKey), false);
      }
      assert.deepEqual(Object.keys(listed[0]!).sort(), [
        "accessKeyId",
        "account",
        "created",
        "expires",
        "grants",
        "lastUsed",
        "limits",
        "name",
        "previousUntil",
        "state",
      ]);
    });

    await t.test(
      "an access key of another system is imported once, with its id, secret and name",
      async (t) => {
        const { credentials } = await openCredentials(t, pair);
        const key = { accessKeyId: "backup.user@old-1", secretAccessKey: "8+/chars" };
        const imported = await credentials.import(key, {
          name: "old backup",
          grants: [parseGrant("photos:read")],
        });
        assert.equal(imported.secretAccessKey, key.secretAccessKey);
        assert.deepEqual(await credentials.find(key.accessKeyId), imported);
        assert.deepEqual(
          (await credentials.list()).map(({ accessKeyId, name }) => [accessKeyId, name]),
          [[key.accessKeyId, "old backup"]],
        );
        await assert.rejects(
          credentials.import({ ...key, secretAccessKey: "another-secret" }),
          /already exists/,
        );
        assert.equal((await credentials.find(key.accessKeyId))?.secretAccessKey, key.secretAccessKey);
        assert.equal(await credentials.disable(key.accessKeyId), true);
        assert.equal((await credentials.find(key.accessKeyId))?.state, "disabled");
        assert.equal((await credentials.find(key.accessKeyId))?.name, "old backup");
        assert.equal(await credentials.delete(key.accessKeyId), true);
      },
    );

    await t.test("ids, secrets and names that are too short, too long or unusual are refused", async (t) => {
      const { credentials } = await openCredentials(t, pair);
      const secretAccessKey = "long enough".replace(" ", "-");
      for (const accessKeyId of [
        "",
        "ab",
        "a".repeat(129),
        "a/b/c",
        "a b c",
        "../a",
        "role:x",
        "a=b,c",
        "äää",
      ])
        await assert.rejects(credentials.import({ accessKeyId, secretAccessKey }), /access key id must/);
      for (const secret of ["", "1234567", "s".repeat(129), "with a space", "ümlautssss", "a\nnewline"])
        await assert.rejects(
          credentials.import({ accessKeyId: "abc", secretAccessKey: secret }),
          /secret access key must/,
        );
      for (const name of ["", "n".repeat(129), "\u001b[31m", "a\nb"])
        await assert.rejects(credentials.create({ name }), /name of an access key/);
      assert.deepEqual(await credentials.list(), []);
    });

    await t.test("an access key id that does not exist is not found, deleted or changed", async (t) => {
      const { credentials } = await openCredentials(t, pair);
      await credentials.create();
      for (const id of [
        "",
        "STOREAAAAAAAAAAAAAAA",
        "storeaaaaaaaaaaaaaaa",
        "__proto__",
        "'; --",
        "x".repeat(9000),
      ]) {
        assert.equal(await credentials.find(id), undefined);
        assert.equal(await credentials.delete(id), false);
        assert.equal(await credentials.disable(id), false);
        assert.equal(await credentials.enable(id), false);
        assert.equal(await credentials.rotate(id), undefined);
      }
    });

    await t.test("a deleted access key is not found and not listed", async (t) => {
      const { credentials } = await openCredentials(t, pair);
      const { accessKeyId } = await credentials.create();
      assert.equal(await credentials.delete(accessKeyId), true);
      assert.equal(await credentials.find(accessKeyId), undefined);
      assert.deepEqual(await credentials.list(), []);
    });

    await t.test(
      "a disabled access key stays disabled until it is enabled, even after it expires",
      async (t) => {
        const { credentials, clock } = await openCredentials(t, pair);
        const made = await credentials.create({ expires: start + day });
        const state = async () => (await credentials.find(made.accessKeyId))?.state;
        assert.equal(await credentials.disable(made.accessKeyId), true);
        assert.equal(await credentials.disable(made.accessKeyId), true);
        assert.equal(await state(), "disabled");
        clock.time += 2 * day;
        assert.equal(await state(), "disabled");
        assert.equal(await credentials.enable(made.accessKeyId), true);
        assert.equal(await state(), "expired");
        clock.time = start;
        assert.deepEqual(await credentials.find(made.accessKeyId), made);
      },
    );

    await t.test(
      "a rotated access key has a new secret and keeps the previous one for the given time",
      async (t) => {
        const { credentials, clock } = await openCredentials(t, pair);
        const first = await credentials.create();
        const second = (await credentials.rotate(first.accessKeyId, day))!;
        assert.notEqual(second.secretAccessKey, first.secretAccessKey);
        assert.deepEqual(second.secrets, [second.secretAccessKey, first.secretAccessKey]);
        assert.equal(second.previousUntil, start + day);
        clock.time = start + day - 1;
        assert.deepEqual((await credentials.find(first.accessKeyId))?.secrets, second.secrets);
        clock.time = start + day;
        const later = await credentials.find(first.accessKeyId);
        assert.deepEqual([later?.secrets, later?.previousUntil], [[second.secretAccessKey], undefined]);
        const third = (await credentials.rotate(first.accessKeyId))!;
        assert.deepEqual(third.secrets, [third.secretAccessKey]);
      },
    );

    await t.test("concurrent changes to an access key are all applied", async (t) => {
      const { credentials } = await openCredentials(t, pair);
      const { accessKeyId } = await credentials.create();
      await Promise.all([
        credentials.disable(accessKeyId),
        credentials.rotate(accessKeyId, day),
        credentials.rotate(accessKeyId, day),
      ]);
      const found = await credentials.find(accessKeyId);
      assert.equal(found?.state, "disabled");
      assert.equal(new Set(found?.secrets).size, 2);
    });

    await t.test(
      "secrets are stored encrypted, bound to the store's key and to their access key id",
      async (t) => {
        const { credentials, documents } = await openCredentials(t, pair);
        const [a, b] = [await credentials.create(), await credentials.create()];
        const stored = JSON.stringify(await documents.list("credential"));
        assert.equal(stored.includes(a.secretAccessKey), false);
        const refusal = {
          name: "CredentialError",
          message: /secret\.key.*STORE_SECRET_KEY[\s\S]*store key delete/,
        };
        const others = createCredentials(documents, randomBytes(32), () => start);
        await assert.rejects(others.find(a.accessKeyId), refusal);
        assert.equal((await others.list()).length, 2, "listing does not need the secret key");
        const moved = (await documents.get("credential", a.accessKeyId))!;
        const { revision } = (await documents.get("credential", b.accessKeyId))!;
        await documents.put("credential", b.accessKeyId, moved.text, revision);
        await assert.rejects(credentials.find(b.accessKeyId), refusal);
      },
    );

    await t.test(
      "creating an access key with an invalid account, grant or expiry is refused with a message",
      async (t) => {
        const { credentials } = await openCredentials(t, pair);
        for (const account of ["", "Team", "a/b", "-a", "x".repeat(64)]) {
          await assert.rejects(
            credentials.create({ account }),
            /^CredentialError: Account name ".*" is not valid: use up to 63 lowercase/,
          );
        }
        const grants = [{ bucket: "No", rights: ["read"] as const }];
        await assert.rejects(credentials.create({ grants }), /"No", which is not a valid bucket name/);
        for (const expires of [start, start - 1, Number.NaN]) {
          await assert.rejects(credentials.create({ expires }), /is in the past/);
        }
        assert.deepEqual(await credentials.list(), []);
      },
    );
  });
}

test("an account always has the same owner id", () => {
  const owner = toOwner("default");
  assert.match(owner.id, /^[0-9a-f]{64}$/);
  assert.deepEqual(toOwner("default"), owner);
  assert.equal(owner.displayName, "default");
  assert.notEqual(toOwner("other").id, owner.id);
});

test("parseGrant parses a bucket and its rights, and its errors state the fault", () => {
  assert.deepEqual(parseGrant("photos:read"), { bucket: "photos", rights: ["read"] });
  assert.deepEqual(parseGrant("photos:write,read,write"), { bucket: "photos", rights: ["read", "write"] });
  assert.deepEqual(parseGrant("*:admin"), { bucket: "*", rights: ["admin"] });
  assert.deepEqual(parseGrant("photos/*:read"), { bucket: "photos", rights: ["read"] });
  assert.deepEqual(parseGrant("photos/2026/*:append"), {
    ...{ bucket: "photos", prefix: "2026/", rights: ["append"] },
  });
  assert.deepEqual(parseGrant("photos/a:b/c.jpg:read"), {
    ...{ bucket: "photos", object: "a:b/c.jpg", rights: ["read"] },
  });
  for (const text of ["photos:read", "*:admin", "photos/2026/*:append,list", "photos/a:b:delete"])
    assert.equal(formatGrant(parseGrant(text)), text);
  const rows = [
    ["photos", /"photos" has no rights: write BUCKET:RIGHTS/],
    [":read", /has no bucket/],
    ["photos:", /has an empty right: use read, write, append, list, delete, admin/],
    ["photos:read,", /has an empty right/],
    ["photos:remove", /Unknown right "remove": use read, write, append, list, delete, admin/],
    ["photos/:read", /has no key after the slash/],
    ["photos/a*b:read", /has a \* inside the prefix/],
    ["/2026/*:read", /has no bucket/],
    ["photos:READ", /Unknown right "READ"/],
  ] as const;
  for (const [text, message] of rows) assert.throws(() => parseGrant(text), { name: "RangeError", message });
});

test("parseDuration parses a number with a unit, and its errors state the fault", () => {
  const rows = {
    "90s": 90_000,
    "15m": 900_000,
    "12h": 12 * 3_600_000,
    "30d": 30 * day,
    "2w": 14 * day,
    " 1D ": day,
  };
  for (const [text, expected] of Object.entries(rows)) assert.equal(parseDuration(text), expected, text);
  for (const text of ["", "30", "d", "1.5h", "-1d", "30 d", "1y", "1d12h", "constructor", "1constructor"]) {
    assert.throws(() => parseDuration(text), {
      name: "RangeError",
      message: /write a number and s, m, h, d or w/,
    });
  }
  assert.throws(() => parseDuration("0d"), /is zero: write a duration of 1 or more/);
  assert.throws(() => parseDuration(`${"9".repeat(400)}w`), /longer than 100 years/);
});
