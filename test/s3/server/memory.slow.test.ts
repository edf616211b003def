// A crowd at the S3 API: memory in proportion to connections, and never to what goes through them.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { garbageBytes } from "../../support/garbage.ts";
import { descriptorLimit, peakMemory, s3Processes } from "../inside.ts";
import { s3Scene } from "../scene.ts";
import { bodies, bodyOf, type Crowd, type CrowdOutcome } from "./memory-process.ts";

const MiB = 1024 * 1024;
const bytes = 10 * MiB;
const mostMemory = 256 * MiB + garbageBytes;

/** All of it, 20 GiB through the loopback, takes minutes on two cores: `STORE_TEST_CROWD=1000 npm run test:slow`. */
const clients = Number(process.env.STORE_TEST_CROWD ?? 200);

async function come(crowd: Crowd): Promise<CrowdOutcome> {
  const program = fileURLToPath(new URL("./memory-process.js", import.meta.url));
  const child = fork(program, [JSON.stringify(crowd)]);
  const ended = once(child, "exit");
  try {
    const [outcome] = (await Promise.race([once(child, "message"), ended])) as [CrowdOutcome | number | null];
    assert.ok(typeof outcome === "object" && outcome !== null, `the crowd ended with ${outcome}`);
    return outcome;
  } finally {
    child.kill("SIGKILL");
  }
}

test(`${clients} uploads of 10 MiB and as many slow readers at once take at most 256 MiB`, async (t) => {
  const { server, url, key } = await s3Scene(t);
  const [pid] = s3Processes(server.pid);
  const descriptors = descriptorLimit(pid!);
  if (descriptors < clients * 2 + 200) {
    const why = `NOT TESTED: ${clients} clients at once. A process may open only ${descriptors} files here.`;
    console.error(why);
    t.skip(why);
    return;
  }
  const etags = Array.from({ length: bodies }, (_, i) =>
    createHash("md5").update(bodyOf(i, bytes)).digest("hex"),
  );
  const crowd = { url, key, bucket: "bucket", clients, bytes, etags };
  const idle = peakMemory(pid!);
  for (const does of ["upload", "read slowly"] as const) {
    const { wrong, seconds } = await come({ ...crowd, does });
    const peak = peakMemory(pid!);
    t.diagnostic(
      `${does}: ${clients} clients, ${seconds} s, at most ${inMiB(peak)} (${inMiB(idle)} before any)`,
    );
    assert.deepEqual(wrong, [], does);
    assert.ok(peak <= mostMemory, `${does} took ${inMiB(peak)}`);
  }
  assert.deepEqual(s3Processes(server.pid), [pid], "it is the process it was");
});

function inMiB(count: number): string {
  return `${(count / MiB).toFixed(1)} MiB`;
}
