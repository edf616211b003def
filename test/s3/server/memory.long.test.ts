// The S3 API's memory with many clients depends on the number of connections, not on the bytes
// transferred.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { garbageBytes } from "../../support/process-tree.ts";
import { descriptorLimit, peakMemory, s3Processes } from "../inside.ts";
import { s3Scene } from "../scene.ts";
import { bodies, type Crowd, type CrowdOutcome, createBody } from "./memory-process.ts";

const MiB = 1024 * 1024;
const bytes = 10 * MiB;
const maxMemory = 256 * MiB + garbageBytes;

/**
 * Number of clients. `STORE_TEST_CROWD=1000` transfers 20 GiB, which takes minutes on two cores.
 */
const clients = Number(process.env.STORE_TEST_CROWD ?? 200);

async function runClients(crowd: Crowd): Promise<CrowdOutcome> {
  const program = fileURLToPath(new URL("./memory-process.js", import.meta.url));
  const child = fork(program, [JSON.stringify(crowd)]);
  const ended = once(child, "exit");
  try {
    const [outcome] = (await Promise.race([once(child, "message"), ended])) as [CrowdOutcome | number | null];
    assert.ok(typeof outcome === "object" && outcome !== null, `the client process exited with ${outcome}`);
    return outcome;
  } finally {
    child.kill("SIGKILL");
  }
}

test(`${clients} concurrent uploads of 10 MiB, and as many slow readers, use at most 256 MiB of memory`, async (t) => {
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
    createHash("md5").update(createBody(i, bytes)).digest("hex"),
  );
  const crowd = { url, key, bucket: "bucket", clients, bytes, etags };
  const idle = peakMemory(pid!);
  for (const does of ["upload", "read slowly"] as const) {
    const { wrong, seconds } = await runClients({ ...crowd, does });
    const peak = peakMemory(pid!);
    t.diagnostic(
      `${does}: ${clients} clients, ${seconds} s, at most ${inMiB(peak)} (${inMiB(idle)} before any)`,
    );
    assert.deepEqual(wrong, [], does);
    assert.ok(peak <= maxMemory, `${does} took ${inMiB(peak)}`);
  }
  assert.deepEqual(s3Processes(server.pid), [pid], "the process was not replaced");
});

function inMiB(count: number): string {
  return `${(count / MiB).toFixed(1)} MiB`;
}
