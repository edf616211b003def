// Phases of idle connections: bursts that open and close, and thousands that stay open.
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
