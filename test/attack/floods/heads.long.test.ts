// Floods of request heads: thousands of lines without an end, a byte at a time, of a megabyte. Other
// clients are served meanwhile, and no head takes much more memory than its bytes.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { openTarget, type PortName, type Target } from "../target.ts";
import { type Bystanders, openBystanders, untilRead } from "./bystanders.ts";

const MiB = 1024 * 1024;
const connections = 600;
/** Heads of all connections are about 60 KiB each on the S3 port, and less on the others. */
const maxGrowth = 160 * MiB;
const patience = 20_000;

const line = (port: PortName) =>
  `GET ${port === "s3" ? "/bucket/small" : "/"} HTTP/1.1\r\nHost: localhost\r\n`;

/** As many different short lines as the limit of bytes allows: the limit does not count separators. */
function shortLines(port: PortName): string {
  const count = port === "s3" ? 12_000 : 3000;
  return Array.from({ length: count }, (_, index) => `h${index}:\r\n`).join("");
}

interface Crowd {
  readonly sockets: readonly Socket[];
  /** What each connection received; empty for a connection without an answer. */
  readonly answers: readonly string[];
}

/** Opens connections from many addresses and sends the text on each. */
async function sendOnEach(port: number, count: number, text: string): Promise<Crowd> {
  const sockets: Socket[] = [];
  const answers: string[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.0.${2 + (i % 40)}` });
    answers.push("");
    socket.on("error", () => {});
    socket.setEncoding("latin1").on("data", (piece: string) => {
      answers[i] += piece.slice(0, 1000 - answers[i]!.length);
    });
    await new Promise<void>((resolve) => {
      socket.write(text, "latin1", () => resolve());
      socket.once("close", () => resolve());
    });
    sockets.push(socket);
  }
  return { sockets, answers };
}

function destroyAll({ sockets }: Crowd): void {
  for (const socket of sockets) socket.destroy();
}

async function untilClosed({ sockets }: Crowd): Promise<void> {
  const late = AbortSignal.timeout(patience);
  const closed = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      if (socket.closed) resolve();
      socket.once("close", () => resolve());
      late.addEventListener("abort", () => reject(late.reason));
    });
  await Promise.all(sockets.map(closed));
}

/** Heads that the server must refuse, each with its text after the first lines. */
const refusedHeads: Readonly<Record<string, string>> = {
  "a header of 1 MB": `X: ${"a".repeat(MiB)}`,
  "a header name of 1 MB": "a".repeat(MiB),
  "a thousand header names": `${Array.from({ length: 1000 }, (_, i) => `x-${i}: a\r\n`).join("")}\r\n`,
  "a thousand equal lines": `${"a: b\r\n".repeat(1000)}\r\n`,
  "600 lines": `${"a: b\r\n".repeat(600)}\r\n`,
  "100,000 lines without an end": "a: b\r\n".repeat(100_000),
};

/** Heads that may go on until the deadline of a head, because they take no memory. */
const endlessHeads: Readonly<Record<string, (port: PortName) => string>> = {
  "lines without an end": shortLines,
  "spaces without an end": () => `X:${" ".repeat(60_000)}`,
};

async function sendWithoutEnd(t: TestContext, target: Target, bystanders: Bystanders): Promise<void> {
  for (const [kind, head] of Object.entries(endlessHeads)) {
    for (const name of Object.keys(target.ports) as PortName[]) {
      const what = `${kind} on the ${name} port`;
      await t.test(`${what} take little memory`, async () => {
        const port = target.ports[name];
        const crowd = await bystanders.during(what, async () => {
          const opened = await sendOnEach(port, connections, line(name) + head(name));
          await untilRead(port);
          return opened;
        });
        await target.assertServes();
        await bystanders.assertMemory(what, maxGrowth);
        destroyAll(crowd);
      });
    }
  }
}

test("floods of request heads delay no other client and take little memory", async (t) => {
  const target = await openTarget(t);
  const bystanders = await openBystanders(t, target);
  await sendWithoutEnd(t, target, bystanders);
  for (const name of Object.keys(target.ports) as PortName[]) {
    const port = target.ports[name];
    await t.test(`heads above a limit are refused on the ${name} port`, async () => {
      for (const [what, text] of Object.entries(refusedHeads)) {
        await bystanders.during(`${what} on the ${name} port`, async () => {
          const crowd = await sendOnEach(port, 50, line(name) + text);
          await untilClosed(crowd);
          // A connection that is reset while the client sends may lose its answer.
          for (const answer of crowd.answers) assert.match(answer, /^$|^HTTP\/1\.1 4\d\d /, what);
          assert.ok(
            crowd.answers.some((answer) => answer !== ""),
            `${what}: no answer`,
          );
        });
      }
    });
    await t.test(`heads that arrive a byte at a time are bounded on the ${name} port`, async () => {
      const crowd = await sendOnEach(port, 100, line(name));
      await bystanders.during(`a byte at a time on the ${name} port`, async () => {
        for (let round = 0; round < 200; round++) {
          for (const socket of crowd.sockets) socket.write("ab:\r\n"[round % 5]!);
          await new Promise(setImmediate);
        }
      });
      destroyAll(crowd);
    });
  }
  await bystanders.assertMemory("after all floods", maxGrowth);
  await target.assertServes();
  target.assertSameProcesses();
});
