// Checks docs/cluster.md: runs its SQL, its commands and two of its servers as shown, on a real
// PostgreSQL and a shared directory.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import pg from "pg";
import { defaultClusterTimes, defaultPoolSize } from "../../src/cluster/open.ts";
import { defaultS3Times as usualS3Times } from "../../src/s3-client/client.ts";
import { defaultConnectionMilliseconds } from "../../src/s3-client/http-client.ts";
import { outcomeOf, root, shellIn } from "../cli/store.ts";
import { startPostgres } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { anchorsOf, blocksOf, linksOf, tableUnder } from "./page/markdown.ts";
import { curlFolder, programFolder } from "./page/project.ts";
import { play, stepsOf } from "./page/transcript.ts";

const page = readFileSync(join(root, "docs", "cluster.md"), "utf8");
const secretKey = "0123456789abcdef".repeat(4);

function textUnder(heading: string, language: string): string {
  const found = blocksOf(page).filter((block) => block.heading === heading && block.language === language);
  assert.equal(found.length, 1, `${language} under ${heading}`);
  return found[0]!.text;
}

test("with the setup in docs/cluster.md, an object put on one server can be read from the other", async (t) => {
  const postgres = await startPostgres();
  const servers: (() => Promise<void>)[] = [];
  // Stop the servers first: on exit they still use the database.
  t.after(async () => {
    await Promise.all(servers.map((end) => end()));
    await postgres.stop();
  });
  const shared = await temporaryDirectory(t);
  const here = (text: string) =>
    text
      .replaceAll("db1,db2,db3", `127.0.0.1:${postgres.port}`)
      .replaceAll("/mnt/shared/store", shared)
      .replaceAll("SECRET_KEY=…", `SECRET_KEY=${secretKey}`);
  await runSql(postgres.port, textUnder("1. The database", "sql"));

  const directory = await temporaryDirectory(t);
  const settings = here(textUnder("2. The settings", "sh"));
  const first = [settings, here(textUnder("3. The tables", "sh"))].join("\n");
  const programs = await programFolder(t, "store");
  await play(stepsOf(first), { directory, programs });

  const serve = textUnder("4. The servers", "sh").trim();
  const environment = Object.fromEntries(
    [...settings.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name!, value!]),
  );
  const start = async () => started(await temporaryDirectory(t), serve, environment);
  const [one, other] = [await start(), await start()];
  servers.push(one.end, other.end);
  const last = textUnder("5. The first object", "sh")
    .replaceAll("http://store1:9000", one.url)
    .replaceAll("http://store2:9000", other.url);
  const paths = [programs, await curlFolder(t)].filter((path) => path !== undefined).join(":");
  await play(stepsOf(`${settings}\n${last}`), { directory, programs: paths });
});

async function runSql(port: number, text: string): Promise<void> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "store", database: "postgres" });
  await client.connect();
  for (const statement of text.split(/;\s*/).filter((one) => one !== "")) await client.query(statement);
  await client.end();
}

interface Started {
  /** URL of the server's S3 API. */
  readonly url: string;
  end(): Promise<void>;
}

/** Starts the server of a command line in the documentation, on free ports. */
async function started(
  directory: string,
  line: string,
  environment: Record<string, string>,
): Promise<Started> {
  const [program, ...args] = line.split(" ");
  assert.equal(program, "store");
  const free = args.map((arg, i) => (/^--(s3-)?port$/.test(args[i - 1] ?? "") ? "0" : arg));
  const local = free.map((arg) => (arg === "0.0.0.0" ? "127.0.0.1" : arg));
  const server = shellIn(directory).start([...local, "--console-port", "0", "--json"], { environment });
  const ended = outcomeOf(server);
  const said = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
  assert.ok(Array.isArray(said), `a server did not start: ${JSON.stringify(said)}`);
  const { s3 } = JSON.parse(String(said[0])) as { s3: { url: string } };
  return {
    url: s3.url.replace(/\/$/, ""),
    async end() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}

test("docs/cluster.md lists the timeouts and the pool size that the code uses", () => {
  const shown = Object.fromEntries(tableUnder(page, "Times").map(([what, time]) => [what, time]));
  assert.deepEqual(shown, {
    "an operation on the database, with all attempts": `${defaultClusterTimes.timeout / 1000} s`,
    heartbeat: `every ${defaultClusterTimes.heartbeatMilliseconds / 1000} s`,
    "declared dead without a heartbeat after": `${defaultClusterTimes.processTimeoutSeconds} s`,
    "bytes of late writes are removed again after": `${defaultClusterTimes.lateWriteSeconds} s`,
    "settings of a bucket are cached for": `${defaultClusterTimes.bucketCacheMilliseconds / 1000} s`,
    "a connection to the S3 service": `${usualS3Times.connect / 1000} s`,
    "it is used for at most": `${defaultConnectionMilliseconds / 1000} s`,
    "its response, and each pause in a body": `${usualS3Times.answer / 1000} s`,
    "a request to it, with all attempts": `${usualS3Times.retry / 1000} s`,
    "connections to the database for each process": `${defaultPoolSize}`,
  });
});

test("every link in docs/cluster.md leads to an existing file and heading", () => {
  for (const link of linksOf(page)) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? "docs/cluster.md" : join(dirname("docs/cluster.md"), path);
    assert.ok(existsSync(join(root, target)), link);
    if (anchor !== undefined) {
      assert.ok(anchorsOf(readFileSync(join(root, target), "utf8")).includes(anchor), link);
    }
  }
});
