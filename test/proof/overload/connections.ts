// Phases of many connections: bursts that open and close, bursts that each send a request, and
// thousands that stay open.
import assert from "node:assert/strict";
import { hold, hostileAddresses, type Phase, share } from "./phase.ts";
import type { OverloadScene, Port } from "./scene.ts";

const ports: readonly Port[] = ["s3", "script", "console", "public"];

export const bursts: Phase = {
  name: "bursts of connections",
  replaces: "nothing",
  async run(scene, { bursts, burstConnections }) {
    let connected = 0;
    let failed = 0;
    for (let burst = 0; burst < bursts; burst++) {
      const port = scene.ports[ports[burst % ports.length]!];
      const opened = await Promise.all(
        scene.attackers.map((attacker) =>
          attacker.call("burst", {
            port,
            count: share(burstConnections, scene.attackers.length),
            addresses: hostileAddresses,
          }),
        ),
      );
      for (const one of opened) {
        connected += one.connected;
        failed += one.failed;
      }
    }
    return { bursts, connected, failed };
  },
};

/** Keys that a burst of puts writes. */
const burstKeys = 100;

/** Requests to each port, which the server answers with 200, or refuses if there are too many. */
async function requestTexts(scene: OverloadScene): Promise<readonly (readonly [Port, readonly string[]])[]> {
  // The cookie of a session belongs to the console's own port.
  const text = (port: Port, method: string, path: string, lines: readonly string[] = [], body = "") =>
    [
      `${method} ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${scene.ports[port]}`,
      "Connection: close",
      ...lines,
      "",
      body,
    ].join("\r\n");
  const cookie = `Cookie: ${await scene.signIn()}`;
  const body = "x".repeat(1024);
  const puts = Array.from({ length: burstKeys }, (_, index) =>
    text(
      "s3",
      "PUT",
      scene.presigned("PUT", `/bucket/burst-${index}`),
      [`Content-Length: ${body.length}`],
      body,
    ),
  );
  return [
    ["s3", [text("s3", "GET", scene.presigned("GET", "/bucket/small"))]],
    ["s3", puts],
    ["console", [text("console", "GET", "/api/buckets", [cookie, "X-Store-Console: 1"])]],
    ["public", [text("public", "GET", "/site/small")]],
    ["script", [text("script", "GET", "/good")]],
  ];
}

export const requestBursts: Phase = {
  name: "bursts of requests",
  replaces: "nothing",
  async run(scene, { requestBursts, burstConnections }) {
    const counts: Record<string, number> = {};
    for (const [name, texts] of await requestTexts(scene)) {
      for (let burst = 0; burst < requestBursts; burst++) {
        const count = share(burstConnections, scene.attackers.length);
        const crowd = { port: scene.ports[name], count, addresses: hostileAddresses, texts };
        const answers = await Promise.all(scene.attackers.map((attacker) => attacker.call("ask", crowd)));
        for (const [status, count] of answers.flatMap((answer) => Object.entries(answer))) {
          counts[`${name} ${status}`] = (counts[`${name} ${status}`] ?? 0) + count;
        }
      }
    }
    const wrong = Object.keys(counts).filter((what) => !/ (200|503|refused)$/.test(what));
    assert.deepEqual(wrong, [], `each request of a burst is answered or refused: ${JSON.stringify(counts)}`);
    return counts;
  },
};

export const idle: Phase = {
  name: "idle connections",
  replaces: "nothing",
  async run(scene, scale) {
    const connected = await holdIdle(scene, scale.idleConnections);
    await hold(scale);
    return { connected, "open in the end": await release(scene) };
  },
};

/** Opens idle connections on all ports; returns how many were accepted. */
export async function holdIdle(scene: OverloadScene, total: number): Promise<number> {
  const count = share(total, scene.attackers.length * ports.length);
  let connected = 0;
  for (const name of ports) {
    const opened = await Promise.all(
      scene.attackers.map((attacker) =>
        attacker.call("hold", { port: scene.ports[name], count, addresses: hostileAddresses }),
      ),
    );
    for (const one of opened) connected += one.connected;
  }
  return connected;
}

/** Closes the hostile connections; returns how many the server had not already closed. */
export async function release(scene: OverloadScene): Promise<number> {
  const released = await Promise.all(scene.attackers.map((attacker) => attacker.call("release", null)));
  return released.reduce((sum, { stillOpen }) => sum + stillOpen, 0);
}
