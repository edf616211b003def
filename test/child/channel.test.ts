// The message channel between a process and its child: framing, limits and invalid messages.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type ChannelOptions, openChannel } from "../../src/child/channel.ts";

/** Returns both ends of a connection. */
async function pipes(t: TestContext): Promise<[Socket, Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const near = connect((server.address() as { port: number }).port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  t.after(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return [near, far];
}

interface Received {
  readonly messages: unknown[];
  readonly faults: string[];
  readonly closed: Promise<void>;
}

function receive(pipe: Socket, options: Partial<ChannelOptions> = {}): Received {
  const messages: unknown[] = [];
  const faults: string[] = [];
  const closed = new Promise<void>((resolve) => {
    openChannel(pipe, {
      onMessage: (value) => messages.push(value),
      onFault: (why) => {
        faults.push(why);
        pipe.destroy();
      },
      onClose: resolve,
      ...options,
    });
  });
  return { messages, faults, closed };
}

function framed(text: string, length = Buffer.byteLength(text)): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length);
  return Buffer.concat([head, Buffer.from(text)]);
}

test("messages of a child arrive complete and in order, however their bytes are split", async (t) => {
  const [near, far] = await pipes(t);
  const { messages, faults, closed } = receive(far);
  const all = Buffer.concat(["null", '{"kind":"ä"}', `"${"x".repeat(70_000)}"`].map((text) => framed(text)));
  near.setNoDelay(true);
  for (let at = 0; at < all.length; at += at < 40 ? 1 : 9_999)
    near.write(all.subarray(at, at + (at < 40 ? 1 : 9_999)));
  near.end();
  await closed;
  assert.deepEqual(messages, [null, { kind: "ä" }, "x".repeat(70_000)]);
  assert.deepEqual(faults, []);
});

for (const [what, bytes] of [
  ["a message length beyond the limit", framed("x", 2 ** 31)],
  ["a message that is not JSON", framed("{nonsense")],
  ["a sequence of 0xff bytes", Buffer.alloc(100, 0xff)],
] as const) {
  test(`${what} on a child's channel is reported as a fault, and no later message is read`, async (t) => {
    const [near, far] = await pipes(t);
    const { messages, faults, closed } = receive(far);
    near.on("error", () => {});
    near.write(Buffer.concat([bytes, framed('"late"')]));
    await closed;
    assert.equal(faults.length, 1);
    assert.deepEqual(messages, []);
  });
}

test("messages beyond the rate limit are read at that rate, and the sender has to wait", async (t) => {
  const [near, far] = await pipes(t);
  const { messages } = receive(far, { messagesPerSecond: 10 });
  const one = framed(`"${"x".repeat(1000)}"`);
  near.on("error", () => {});
  for (let i = 0; i < 20_000; i++) near.write(one);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(messages.length < 2000, `${messages.length} messages were taken at once`);
  assert.ok(near.writableLength > 0, "the sender waits");
});

test("a message to a process that does not read is dropped if too many bytes are unsent", async (t) => {
  const [near, far] = await pipes(t);
  far.pause();
  const channel = openChannel(near, { onMessage() {}, onFault() {}, onClose() {} });
  const message = { text: "x".repeat(1024 * 1024) };
  let sent = 0;
  while (sent < 100 && channel.send(message)) sent++;
  assert.ok(sent > 10 && sent < 60, `${sent} MiB were taken`);
});
