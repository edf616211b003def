// Profiles and endpoints: how they are stored and chosen, and what wrong input is answered.
import assert from "node:assert/strict";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryDirectory } from "../../../support/stores.ts";
import { createRunner } from "../../in-process.ts";
import { openService } from "../../store/remote/service.ts";

const secret = "very-secret-0123456789";
const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: secret };

async function openHome(t: TestContext, environment: Readonly<Record<string, string>> = keys) {
  const directory = await temporaryDirectory(t);
  const runner = createRunner({ directory, environment: { HOME: directory, ...environment } });
  return { ...runner, directory, file: join(directory, ".config", "store", "profiles.json") };
}

test("a profile is stored for its owner only, and its secrets are never printed", async (t) => {
  const home = await openHome(t, { ...keys, STORE_CONSOLE_TOKEN: "token-abc" });
  const added = await home.run(
    ...[
      "profile",
      "add",
      "work",
      "--endpoint",
      "https://s3.example.com/",
      "--console",
      "https://c.example.com",
    ],
  );
  assert.equal(added.code, 0, added.stderr);
  assert.equal((await stat(home.file)).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(await readFile(home.file, "utf8")), {
    profiles: {
      work: {
        endpoint: "https://s3.example.com",
        region: "us-east-1",
        accessKeyId: "AKIDEXAMPLE",
        secretAccessKey: secret,
        consoleToken: "token-abc",
        console: "https://c.example.com",
      },
    },
  });
  const listed = await home.store("profile", "list", "--json");
  for (const text of [added.stdout, added.stderr, listed]) assert.doesNotMatch(text, /very-secret|token-abc/);
  assert.match(
    await home.fails("profile", "add", "work", "--endpoint", "http://other"),
    /^1: .*already exists; nothing was changed/,
  );
  await home.store("profile", "add", "work", "--endpoint", "http://127.0.0.1:1", "--replace");
  assert.match(await home.store("profile", "list"), /work\thttp:\/\/127\.0\.0\.1:1\t/);
  await home.store("profile", "remove", "work");
  assert.match(await home.fails("profile", "remove", "work"), /^1: error: There is no profile "work"/);
});

test("wrong profiles and endpoints are refused with the cure, and nothing is changed", async (t) => {
  const home = await openHome(t);
  const cases: readonly (readonly [args: readonly string[], answer: RegExp])[] = [
    [
      ["profile", "add", "a b", "--endpoint", "http://x"],
      /^2: error: "a b" is not a valid name[\s\S]*letters, digits/,
    ],
    [["profile", "add", "a"], /^2: error: .*needs --endpoint URL[\s\S]*For example/],
    [
      ["profile", "add", "a", "--endpoint", "s3.example.com"],
      /^2: error: --endpoint needs the URL of a server/,
    ],
    [["profile", "add", "a", "--endpoint", "http://u:pw@x"], /^2: (?!.*pw)[\s\S]*without a path/],
    [
      ["profile", "add", "a", "--endpoint", "http://x", "--region", "ä"],
      /^2: error: "ä" is not a valid region/,
    ],
    [
      ["bucket", "list", "--profile", "none"],
      /^1: error: There is no profile "none"[\s\S]*store profile add none/,
    ],
    [["bucket", "list", "--endpoint", "ftp://x"], /^2: error: --endpoint needs the URL/],
    [["bucket", "list", "--endpoint", "http://x", "--data", "y"], /^2: .*cannot be combined[\s\S]*Remove/],
    [["bucket", "list", "--profile", "p", "--records", "postgres://x"], /^2: .*cannot be combined/],
    [
      ["bucket", "list", "--endpoint", "http://127.0.0.1:1"],
      /^1: .*cannot be reached: [\s\S]*Check that it runs/,
    ],
    [
      ["verify", "--endpoint", "http://127.0.0.1:1"],
      /^2: error: store verify works on the files[\s\S]*--data DIR/,
    ],
    [["bucket", "lock", "list", "photos", "--profile", "p"], /^2: .*works on the files of a store/],
  ];
  for (const [args, answer] of cases) assert.match(await home.fails(...args), answer, args.join(" "));
  await assert.rejects(stat(home.file), { code: "ENOENT" });

  const bare = await openHome(t, {});
  assert.match(
    await bare.fails("bucket", "list", "--endpoint", "http://x"),
    /^2: error: There is no access key[\s\S]*AWS_ACCESS_KEY_ID/,
  );
});

test("a damaged or readable file of profiles is refused without showing its contents", async (t) => {
  const home = await openHome(t);
  await mkdir(join(home.file, ".."), { recursive: true });
  const valid = { endpoint: "http://x", region: "r", accessKeyId: "a", secretAccessKey: secret };
  const cases: readonly (readonly [text: string, answer: RegExp])[] = [
    [`{"profiles": ${secret}`, /it is not JSON/],
    ["[]", /it has no object "profiles"/],
    [JSON.stringify({ profiles: { p: { ...valid, secretAccessKey: 5 } } }), /has no valid "secretAccessKey"/],
    [
      JSON.stringify({ profiles: { p: { ...valid, endpoint: `http://${secret}@x` } } }),
      /no valid URL in "endpoint"/,
    ],
    [JSON.stringify({ profiles: { p: { ...valid, other: secret } } }), /unknown field "other"/],
    [JSON.stringify({ profiles: { "../p": valid } }), /name that is not valid/],
  ];
  for (const [text, answer] of cases) {
    await writeFile(home.file, text, { mode: 0o600 });
    const refusal = await home.fails("bucket", "list", "--profile", "p");
    assert.match(refusal, answer);
    assert.doesNotMatch(refusal, /very-secret/);
  }
  await writeFile(home.file, JSON.stringify({ profiles: { p: valid } }));
  await chmod(home.file, 0o644);
  assert.match(
    await home.fails("bucket", "list", "--profile", "p"),
    /can be read by other users[\s\S]*chmod 600/,
  );
});

test("an endpoint takes its key from the environment; a wrong key or clock is answered with the cure", async (t) => {
  const { port, accessKeyId, secretAccessKey } = await openService(t);
  const url = `http://127.0.0.1:${port}`;
  const right = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  const home = await openHome(t, { ...right, STORE_ENDPOINT: url });
  assert.match(await home.store("bucket", "list"), /^shelf\t/);
  assert.match(await home.fails("bucket", "info", "none"), /^1: error: There is no bucket "none"/);
  assert.match(await home.fails("bucket", "list", "--data", "./none"), /There is no data directory/);
  for (const wrong of [keys, { ...right, AWS_SECRET_ACCESS_KEY: secret }]) {
    const other = await openHome(t, { ...wrong, STORE_ENDPOINT: url });
    const refusal = await other.fails("bucket", "create", "new");
    assert.match(
      refusal,
      /^1: error: The S3 service at 127\.0\.0\.1:\d+ refused the request: .*[\s\S]*access key/,
    );
    assert.doesNotMatch(refusal, /very-secret/);
  }
  const both = await openHome(t, { ...right, STORE_ENDPOINT: url, STORE_DATA: "x" });
  assert.match(
    await both.fails("bucket", "list"),
    /^2: error: STORE_ENDPOINT .* and STORE_DATA .* are both set/,
  );
});
