// Phases with misbehaving clients: they do not read, send one byte at a time, pipeline far ahead,
// or send thousands of wrong signatures.
import { signRaw } from "../../s3/raw.ts";
import { release } from "./connections.ts";
import { hold, hostileAddresses, type Phase, share } from "./phase.ts";
import type { OverloadScene, Port } from "./scene.ts";

/** Returns requests for the large object on every port that serves objects. */
function largeReads(scene: OverloadScene): readonly (readonly [Port, string])[] {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${new URL(scene.url).host}\r\n\r\n`;
  return [
    ["s3", get(scene.presigned("GET", "/bucket/large"))],
    ["script", get("/large")],
    ["public", get("/site/large")],
  ];
}

export const slowReaders: Phase = {
  name: "slow readers",
  replaces: "nothing",
  async run(scene, scale) {
    const reads = largeReads(scene);
    let connected = 0;
    for (const [name, text] of reads) {
      const opened = await scene.attackers[0]!.call("sendUnread", {
        ...{ port: scene.ports[name], count: share(scale.slowClients, reads.length) },
        ...{ addresses: hostileAddresses, text },
      });
      connected += opened.connected;
    }
    await hold(scale);
    return { connected, "open in the end": await release(scene) };
  },
};

export const slowWriters: Phase = {
  name: "slow writers",
  replaces: "nothing",
  async run(scene, scale) {
    const { host } = new URL(scene.url);
    const head = (path: string) => `PUT ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000000\r\n\r\n`;
    const writes: readonly (readonly [Port, string])[] = [
      ["s3", head(scene.presigned("PUT", "/bucket/slow"))],
      ["script", head("/slow")],
      // The head of these requests is never completed.
      ["console", "POST /api/session HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
      ["public", "GET /site/small HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
    ];
    let connected = 0;
    for (const [name, text] of writes) {
      const opened = await scene.attackers[0]!.call("drip", {
        ...{ port: scene.ports[name], count: share(scale.slowClients, writes.length) },
        ...{ addresses: hostileAddresses, head: text },
      });
      connected += opened.connected;
    }
    await hold(scale);
    return { connected, "open in the end": await release(scene) };
  },
};

/** Pipelining connections per port. */
const pipelining = 10;

export const pipelines: Phase = {
  name: "pipelined reads",
  replaces: "nothing",
  async run(scene, scale) {
    let connected = 0;
    for (const [name, text] of largeReads(scene)) {
      const opened = await scene.attackers[0]!.call("sendUnread", {
        ...{ port: scene.ports[name], count: pipelining, addresses: hostileAddresses },
        text: text.repeat(scale.pipelinedRequests),
      });
      connected += opened.connected;
    }
    await hold(scale);
    await release(scene);
    return { connected, requests: connected * scale.pipelinedRequests };
  },
};

export const wrongSignatures: Phase = {
  name: "wrong signatures",
  replaces: "nothing",
  async run(scene, { wrongSignatures }) {
    const key = { ...scene.key, secretAccessKey: "x".repeat(40) };
    const raw = { method: "GET", path: "/bucket/small" };
    const { headers } = signRaw(scene.url, raw, { key, form: "header" });
    const answers = await Promise.all(
      scene.attackers.map((attacker) =>
        attacker.call("flood", {
          ...{ port: scene.ports.s3, path: raw.path, headers: { ...headers }, at: 32 },
          count: share(wrongSignatures, scene.attackers.length),
          addresses: hostileAddresses,
        }),
      ),
    );
    const counts: Record<string, number> = {};
    for (const answer of answers) {
      for (const [status, count] of Object.entries(answer)) {
        const name = status === "0" ? "cut" : `answered ${status}`;
        counts[name] = (counts[name] ?? 0) + count;
      }
    }
    if (counts["answered 200"] !== undefined) throw new Error("A wrong signature was accepted.");
    return counts;
  },
};
