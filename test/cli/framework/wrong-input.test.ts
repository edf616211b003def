// Wrong input of many kinds on the command line: each is answered with what is wrong and what to do,
// with the documented exit code, without a stack trace, and nothing is changed.
import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { runInProcess } from "../in-process.ts";

type Row = readonly [line: string, code: 1 | 2, ...says: readonly (string | RegExp)[]];

const rows: readonly Row[] = [
  // Commands and options.
  ["bukket list", 2, 'There is no command "store bukket"', "Did you mean: store bucket"],
  ["bucket ls", 2, "Did you mean: store bucket list"],
  ["bucket", 2, "needs a subcommand: create", "store bucket --help"],
  ["--json nonsense", 2, 'There is no command "store nonsense"', "store --help"],
  ["--bogus", 2, '"--bogus" needs a command'],
  ["bucket list --jsn", 2, "has no option --jsn", "Did you mean --json?"],
  ["bucket list extra", 2, 'does not expect "extra"', "Usage: store bucket list"],
  ["bucket create", 2, "needs <name>", "For example: store bucket create photos"],
  ["bucket list --data", 2, "--data needs a value: --data DIR"],
  ["bucket list --data --json", 2, '--data needs a value, but "--json" follows'],
  ["bucket list --json=yes", 2, '--json takes no value, but "yes" was given'],
  ["bucket create new --storage-class Standard --storage-class Standard", 2, "was given more than once"],
  ["help bukket", 2, 'There is no command "store bukket"'],
  ["help --man --markdown", 2, "not several of them"],
  ["completions tcsh", 2, "Use one of: bash, zsh, fish"],
  // Locations.
  ["bucket list --data s3://b/x", 2, "--data takes a folder or memory:", "--records URL"],
  ["bucket list --config https://host/x", 2, "--config takes a file", '"https:"'],
  ["serve --tls-cert s3://x --tls-key y", 2, "--tls-cert takes a file"],
  ["serve --console-oidc ftp://x", 2, "--console-oidc takes a file"],
  ["serve --bucket-socket ftp://x=photos", 2, "--bucket-socket takes a path"],
  ["serve --request-log ftp://x", 2, "--request-log takes a file or -"],
  ["backup --to gs://b/x", 2, "--to takes a folder", '"gs:"'],
  ["restore --from gs://b/x", 2, "--from takes a folder"],
  ["copy --to ftp://x", 2, "a folder or the records of a cluster"],
  ["bucket list --records mysql://x --blobs file:///y", 2, "--records must begin with postgres://"],
  ["bucket list --records postgres://h/d", 2, '"blobs" is missing', "--blobs URL"],
  ["bucket list --data x --records postgres://h/d", 2, "cannot be combined"],
  ["bucket list --data missing", 1, 'There is no data directory at "missing"', "store bucket create <name>"],
  ["bucket list --config missing.toml", 1, /missing\.toml/],
  ["backup", 2, "needs a folder or an S3 service: --to DIR"],
  ["backup --to .store/inside", 1, "contains the data directory or is inside it"],
  ["restore --from empty --verify", 1, /backup/],
  // Buckets and objects.
  ["bucket create Photos", 2, '"Photos" is not a valid bucket name', "lowercase"],
  ["bucket create photos", 1, "already exists; nothing was changed", "store bucket info photos"],
  ["bucket create new --storage-class Glacier", 2, "Use Standard or InfrequentAccess"],
  ["bucket info fotos", 1, 'There is no bucket "fotos"', "store bucket create fotos"],
  ["bucket delete photos", 1, "is not empty", "--force"],
  ["bucket versioning photos off", 2, "cannot be turned off; it can be suspended"],
  ["bucket versioning photos on now", 2, 'does not expect "now"', "set <bucket> <file>"],
  ["bucket restore photos --at tomorrow", 2, '--at needs a time, not "tomorrow"', "2h for 2 hours ago"],
  ["object get photos", 2, "write bucket and key with a slash"],
  ["object get photos/missing", 1, 'There is no object "missing"', "store object list photos"],
  ["object put photos/x missing.txt", 1, 'Cannot read "missing.txt"', "no such file"],
  ["object put s3:/photos/x a.txt", 2, /s3:/],
  ["object list photos --limit many", 2, /--limit/],
  ["sync photos fotos", 1, 'there is no bucket "fotos"', "./fotos"],
  // Settings as documents.
  ["bucket cors", 2, "needs one of: get, set, delete"],
  ["bucket cors show photos", 2, "Use one of: get, set, delete"],
  ["bucket cors set photos", 2, "needs a file, or - for standard input"],
  ["bucket cors get", 2, /needs a bucket|needs <bucket>|Use one of/],
  ["bucket cors get fotos", 1, 'There is no bucket "fotos"'],
  ["bucket cors set photos missing.json", 1, "no such file"],
  ["bucket cors set photos s3://x/y", 2, "takes a file or -"],
  ["bucket cors set photos empty.txt", 2, "The document is empty", "store bucket cors delete <bucket>"],
  ["bucket cors set photos a.txt", 2, "not valid JSON"],
  ["bucket cors set photos list.json", 2, '"CORSRules[0].AllowedMethods" must be a list, not a string'],
  ["bucket cors set photos method.json", 2, /Rule 1: .*nothing was changed/],
  ["bucket lifecycle set photos misspelled.json", 2, '"Dayz" is not a field', 'Did you mean "Days"?'],
  ["bucket lifecycle set photos broken.xml", 2, "not a valid LifecycleConfiguration"],
  ["bucket policy set photos misspelled.json", 2, "Nothing was changed"],
  ["bucket quota set photos misspelled.json", 2, '{"bytes"'],
  ["bucket lock set photos misspelled.json", 2, '{"rules"'],
  ["bucket object-lock delete photos", 1, "cannot be disabled again", "default --none"],
  ["bucket public photos --domain a_b", 2, "is not a host name"],
  ["bucket public get photos --off", 2, "takes no --off"],
  ["bucket notify add photos", 2, "exactly one target: --webhook URL or --script NAME"],
  ["bucket notify add photos --webhook ftp://x", 2, /http/],
  ["bucket notify add photos --script Not/Valid", 2, "is not a valid script name"],
  ["bucket lock add photos --days 0", 2, /[Dd]ays/],
  // Keys, quotas, audit, servers.
  ["key create --grant photos:fly", 2, "fly"],
  ["key delete STORENOTHERE", 1, /There is no/],
  ["quota set photos --bytes lots", 2, '--bytes needs a size, not "lots"', "500MB"],
  ["quota set photos", 2, "needs --bytes SIZE, --objects N, or both"],
  ["audit --act fly", 2, 'There is no action "fly"', "Actions: create bucket"],
  ["audit --since 2999-01-01", 2, "is in the future"],
  ["logs", 1, "No server of this store is running", "store serve"],
  ["logs --console nonsense", 2, "--console must be a URL without a path"],
  ["logs --console http://127.0.0.1:1", 1, "STORE_CONSOLE_TOKEN is not set", "store console token"],
  ["logs --endpoint http://127.0.0.1:1", 2, "needs the console's API", "STORE_CONSOLE_TOKEN"],
  ["audit --endpoint http://127.0.0.1:1", 2, "needs the console's API", "STORE_CONSOLE_TOKEN"],
  ["backup --to b --staging s", 2, "the store is a data directory", "Leave --staging out"],
  ["restore --from b --staging s", 2, "the store is a data directory", "Leave --staging out"],
  ["logs web --requests", 2, "takes no script"],
  ["doctor --tls-cert https://x", 2, "--tls-cert takes a file"],
  ["status --data missing", 1, 'There is no data directory at "missing"'],
  ["serve --port many", 2, "--port must be a whole number up to 65535"],
  ["serve --tls-key x", 2, "--tls-key needs its certificate: --tls-cert FILE"],
  ["serve --isolation jail", 2, "--isolation is process or sandbox"],
  ["user create Not/Valid --role viewer", 2, /name/],
  ["console revoke nothing", 1, "There is no console token", "store console list"],
  ["migrate", 1, "needs no migration", "--records URL --blobs URL"],
  ["kv get nowhere key", 1, 'There is no namespace "nowhere"', "store kv namespace create nowhere"],
  ["secret put", 2, "needs <NAME>", "For example: store secret put"],
];

const files: Readonly<Record<string, string>> = {
  "a.txt": "hello",
  "empty.txt": "",
  "list.json": '{"CORSRules":[{"AllowedMethods":"GET","AllowedOrigins":["*"]}]}',
  "method.json": '{"CORSRules":[{"AllowedMethods":["FLY"],"AllowedOrigins":["*"]}]}',
  "misspelled.json": '{"Rules":[{"Status":"Enabled","Filter":{},"Expiration":{"Dayz":1}}]}',
  "broken.xml": "<LifecycleConfiguration><Rule></LifecycleConfiguration>",
};

/** Everything that a command could have changed. The audit log records refused actions, too. */
async function stateOf(directory: string): Promise<unknown> {
  const { engine, documents } = await openEngine(join(directory, ".store"));
  try {
    const buckets = await engine.listBuckets();
    return {
      files: (await readdir(directory)).sort(),
      buckets: await Promise.all(buckets.map(({ name }) => engine.bucket(name))),
      objects: await Promise.all(buckets.map(({ name }) => engine.list(name))),
      namespaces: await engine.kv.listNamespaces(),
      documents: await Promise.all(
        ["secret", "credential", "console token", "console user", "public bucket", "notified bucket"].map(
          (kind) => documents.list(kind),
        ),
      ),
    };
  } finally {
    await engine.close();
  }
}

test("wrong input of more than 60 kinds is refused with what and what to do, and changes nothing", async (t) => {
  assert.ok(rows.length >= 60);
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(join(directory, ".store"));
  await engine.createBucket("photos");
  await engine.put("photos", "cat", Buffer.from("meow"));
  await engine.close();
  await mkdir(join(directory, "empty"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const before = await stateOf(directory);
  const faults: string[] = [];
  for (const [line, code, ...says] of rows) {
    const { stdout, stderr, ...outcome } = await runInProcess(line.split(" "), { directory });
    const wrong = [
      ...(outcome.code === code ? [] : [`exit code ${outcome.code}, not ${code}`]),
      ...(stdout === "" ? [] : [`it prints ${stdout}`]),
      ...(/^\s+at /m.test(stderr) ? ["a stack trace"] : []),
      ...(stderr.includes("STORE_DEBUG") ? ["no message of its own"] : []),
      ...says.filter((words) => (typeof words === "string" ? !stderr.includes(words) : !words.test(stderr))),
    ];
    if (wrong.length > 0) faults.push(`store ${line}: ${wrong.join("; ")}\n${stderr}`);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(await stateOf(directory), before);
});
