// Secrets of scripts on every implementation of documents, and the key that encrypts them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import type { Documents } from "../../src/engine/records.ts";
import { loadSecretKey } from "../../src/secrets/master-key.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { portPairs } from "../support/ports.ts";
import { temporaryDirectory } from "../support/stores.ts";

async function opened(t: TestContext, pair: (typeof portPairs)[number], key = randomBytes(32)) {
  const { documents } = (await pair.open(t)).records;
  return { documents, key, secrets: createSecrets(documents, key) };
}

/** Returns all stored documents of secrets as text. */
async function kept(documents: Documents): Promise<string> {
  return JSON.stringify(await documents.list("secret"));
}

for (const pair of portPairs) {
  test(`secrets of scripts can be set, listed, read and deleted in ${pair.name}`, async (t) => {
    const { secrets, documents, key } = await opened(t, pair);

    await t.test("a script has no secrets before one is set", async () => {
      assert.deepEqual(await secrets.list("photos"), []);
      assert.deepEqual(await secrets.values("photos"), {});
    });

    await t.test("a secret is set, listed by name only, read, replaced and deleted", async () => {
      await secrets.put("photos", "AUTH_KEY_SECRET", "hunter2");
      await secrets.put("photos", "$other", "ünïcode 🔑\nin two lines\0");
      assert.deepEqual(await secrets.list("photos"), ["$other", "AUTH_KEY_SECRET"]);
      assert.deepEqual(await secrets.values("photos"), {
        $other: "ünïcode 🔑\nin two lines\0",
        AUTH_KEY_SECRET: "hunter2",
      });
      await secrets.put("photos", "AUTH_KEY_SECRET", "hunter3");
      assert.equal((await secrets.values("photos")).AUTH_KEY_SECRET, "hunter3");
      assert.equal(await secrets.delete("photos", "AUTH_KEY_SECRET"), true);
      assert.equal(await secrets.delete("photos", "AUTH_KEY_SECRET"), false);
      assert.deepEqual(await secrets.list("photos"), ["$other"]);
    });

    await t.test("scripts do not see each other's secrets, even with similar names", async () => {
      for (const script of ["a", "a-b", "ab"]) await secrets.put(script, "NAME", `of ${script}`);
      for (const script of ["a", "a-b", "ab"]) {
        assert.deepEqual(await secrets.values(script), { NAME: `of ${script}` });
      }
      assert.equal(await secrets.delete("a", "NAME"), true);
      assert.deepEqual(await secrets.list("a-b"), ["NAME"]);
    });

    await t.test(
      "the revision of a script's secrets changes with each of its changes, not with another script's",
      async () => {
        const seen = [await secrets.revision("revised")];
        const change = async (act: () => Promise<unknown>) => {
          await act();
          seen.push(await secrets.revision("revised"));
        };
        await change(() => secrets.put("revised", "A", "1"));
        await change(() => secrets.put("revised", "A", "1"));
        await change(() => secrets.put("revised", "B", "1"));
        await change(() => secrets.delete("revised", "A"));
        await change(() => secrets.put("revised", "A", "1"));
        assert.equal(new Set(seen).size, seen.length);
        await secrets.put("photos", "A", "1");
        await secrets.list("revised");
        assert.equal(await secrets.revision("revised"), seen.at(-1));
      },
    );

    await t.test(
      "secret values are never stored in plain text, and equal values are encrypted differently",
      async () => {
        await secrets.put("sealed", "A", "correct horse battery staple");
        await secrets.put("sealed", "B", "correct horse battery staple");
        const text = await kept(documents);
        for (const form of ["utf8", "base64", "hex"] as const) {
          assert.equal(text.includes(Buffer.from("horse battery").toString(form).slice(1, 16)), false, form);
        }
        const [a, b] = await Promise.all(["A", "B"].map((name) => documents.get("secret", `sealed/${name}`)));
        assert.notEqual(a?.text, b?.text);
      },
    );

    await t.test(
      "an encrypted value can be decrypted only under its script and name, and only if complete",
      async () => {
        await secrets.put("placed", "A", "hidden value");
        const { text, revision } = (await documents.get("secret", "placed/A"))!;
        const refusal = { name: "SecretError", message: /secret\.key/ };
        for (const name of ["placed/B", "misplaced/A"]) await documents.put("secret", name, text, undefined);
        await assert.rejects(secrets.values("misplaced"), refusal);
        await assert.rejects(secrets.values("placed"), refusal);
        await secrets.delete("placed", "B");
        assert.deepEqual(await secrets.values("placed"), { A: "hidden value" });
        let seen = revision;
        for (const damaged of [text.slice(0, -8), `${text.slice(0, -6)}AAAA==`, "", "v2.AAAA", "v1."]) {
          await documents.put("secret", "placed/A", damaged, seen);
          await assert.rejects(secrets.values("placed"), refusal);
          seen = (await documents.get("secret", "placed/A"))!.revision;
        }
      },
    );

    await t.test(
      "with another secret key no secret can be decrypted, and the error names the key file but no value",
      async () => {
        await secrets.put("locked", "TOKEN", "hidden value");
        const others = createSecrets(documents, randomBytes(32));
        await assert.rejects(others.values("locked"), (error: Error) => {
          assert.equal(error.name, "SecretError");
          assert.match(error.message, /"TOKEN" of the script "locked"/);
          assert.match(error.message, /secret\.key.*STORE_SECRET_KEY/);
          assert.match(error.message, /store secret put TOKEN/);
          assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /hidden/);
          return true;
        });
        assert.deepEqual(await others.list("locked"), ["TOKEN"], "names need no key");
        await others.put("locked", "TOKEN", "set anew");
        assert.deepEqual(await others.values("locked"), { TOKEN: "set anew" });
        assert.deepEqual(await createSecrets(documents, key).list("locked"), ["TOKEN"]);
      },
    );

    await t.test("concurrent changes of secrets are all applied", async () => {
      const names = Array.from({ length: 10 }, (_, i) => `N${i}`);
      await Promise.all(names.map((name) => secrets.put("busy", name, name)));
      await Promise.all(names.map((name) => secrets.put("busy", "SHARED", name)));
      const { SHARED, ...others } = await secrets.values("busy");
      assert.ok(names.includes(SHARED!));
      assert.deepEqual(Object.values(others), names);
    });

    await t.test(
      "a secret whose name is not a JavaScript identifier or whose value is empty is refused",
      async () => {
        const names = ["", "my-key", "1ST", "a b", "class", "a/b", "__proto__", "A\n"];
        for (const name of names) {
          await assert.rejects(secrets.put("photos", name, "hidden"), (error: Error) => {
            assert.equal(error.name, "SecretError");
            assert.match(error.message, /: it is letters, digits, _ and \$/);
            return !error.message.includes("hidden");
          });
        }
        await assert.rejects(secrets.put("photos", "A", ""), /"A" is empty/);
        await assert.rejects(secrets.put("photos", "A", "\ud800"), /"A" is not valid Unicode text/);
        await assert.rejects(secrets.put("photos", "A", "x".repeat(65_537)), /longer than 64 KiB/);
        for (const script of ["", "Photos", "a/b", "-a"]) {
          await assert.rejects(secrets.put(script, "A", "x"), /cannot be a script's name/);
          await assert.rejects(secrets.list(script), { name: "SecretError" });
        }
      },
    );
  });
}

test("the key file is created once, is private, and is read by later opens", async (t) => {
  const directory = await temporaryDirectory(t);
  const key = loadSecretKey(join(directory, "data"), undefined);
  assert.equal(key.length, 32);
  const file = join(directory, "data", "secret.key");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, "utf8"), /^[0-9a-f]{64}\n$/);
  assert.deepEqual(Buffer.from(loadSecretKey(join(directory, "data"), undefined)), Buffer.from(key));
  assert.deepEqual(readdirSync(join(directory, "data")), ["secret.key"], "no temporary file is left");
  const other = loadSecretKey(join(directory, "other"), undefined);
  assert.notDeepEqual(Buffer.from(other), Buffer.from(key));
});

test("threads that open the key file at the same time get the same key", async (t) => {
  const directory = await temporaryDirectory(t);
  const code = `
    import { parentPort, workerData } from "node:worker_threads";
    const { loadSecretKey } = await import(workerData.module);
    parentPort.once("message", () => {
      parentPort.postMessage(Buffer.from(loadSecretKey(workerData.directory, undefined)).toString("hex"));
    });
    parentPort.postMessage("ready");`;
  const workerData = { directory, module: new URL("../../src/secrets/master-key.js", import.meta.url).href };
  const workers = Array.from(
    { length: 4 },
    () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData }),
  );
  const next = (worker: Worker) => new Promise<unknown>((resolve) => worker.once("message", resolve));
  await Promise.all(workers.map(next));
  const keys = workers.map(next);
  for (const worker of workers) worker.postMessage("now");
  assert.equal(new Set(await Promise.all(keys)).size, 1);
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.deepEqual(readdirSync(directory), ["secret.key"]);
});

test("a secret key in the environment, in hex or base64, takes precedence over the key file", async (t) => {
  const directory = await temporaryDirectory(t);
  const key = randomBytes(32);
  const forms = [
    key.toString("hex"),
    key.toString("hex").toUpperCase(),
    key.toString("base64"),
    key.toString("base64url"),
    `${key.toString("base64")}\n`,
  ];
  for (const form of forms) assert.deepEqual(Buffer.from(loadSecretKey(directory, form)), key, form);
  assert.equal(existsSync(join(directory, "secret.key")), false, "no file is created");
});

test("an invalid secret key is refused with a message that does not contain the key", async (t) => {
  const directory = await temporaryDirectory(t);
  const wrong = [
    "",
    "hidden",
    randomBytes(31).toString("hex"),
    randomBytes(33).toString("hex"),
    randomBytes(24).toString("base64"),
    randomBytes(34).toString("base64"),
    `${"z".repeat(64)}`,
  ];
  for (const value of wrong) {
    assert.throws(() => loadSecretKey(directory, value), {
      name: "SecretKeyError",
      message: /STORE_SECRET_KEY must be 64 hex digits, or 32 bytes in base64[\s\S]*openssl rand -hex 32/,
    });
    assert.throws(
      () => loadSecretKey(directory, value),
      ({ message }: Error) => value === "" || !message.includes(value),
    );
  }
});

test("a key file that is damaged, accessible to others or unreadable is reported by its name", async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, "secret.key");
  writeFileSync(file, "hidden\n", { mode: 0o600 });
  assert.throws(
    () => loadSecretKey(directory, undefined),
    ({ name, message }: Error) =>
      name === "SecretKeyError" && message.includes(file) && !message.includes("hidden"),
  );
  writeFileSync(file, `${randomBytes(32).toString("hex")}\n`);
  chmodSync(file, 0o640);
  assert.throws(() => loadSecretKey(directory, undefined), {
    name: "SecretKeyError",
    message: /chmod 600 .*secret\.key[\s\S]*STORE_SECRET_KEY/,
  });
  chmodSync(file, 0o400);
  assert.equal(loadSecretKey(directory, undefined).length, 32);
  writeFileSync(join(directory, "a file"), "");
  assert.throws(() => loadSecretKey(join(directory, "a file"), undefined), {
    name: "SecretKeyError",
    message: /Cannot read the key file .*secret\.key: ENOTDIR/,
  });
  const linked = await temporaryDirectory(t);
  symlinkSync(join(linked, "elsewhere"), join(linked, "secret.key"));
  assert.throws(() => loadSecretKey(linked, undefined), {
    name: "SecretKeyError",
    message: /secret\.key is a link to a missing file/,
  });
  assert.deepEqual(readdirSync(linked), ["secret.key"], "no temporary file is left");
});

test("every store in memory has its own random secret key, and no key file is created", () => {
  const key = loadSecretKey("memory:", undefined);
  assert.equal(key.length, 32);
  assert.notDeepEqual(loadSecretKey("memory:", undefined), key);
  assert.equal(existsSync("memory:"), false);
});
