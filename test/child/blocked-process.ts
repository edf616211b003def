// A parent and its child in one program: the child blocks its event loop for good.
import { writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { connectParent } from "../../src/child/parent.ts";
import type { DeathWatch } from "../../src/child/parent-death.ts";
import { startChild } from "../../src/child/start-child.ts";

const [role] = process.argv.slice(2);
if (role === "signal" || role === "thread") startBlocked(role);
else runBlocked();

function startBlocked(deathWatch: DeathWatch): void {
  const child = startChild({
    title: () => "The child",
    program: fileURLToPath(import.meta.url),
    nodeOptions: [],
    environment: process.env,
    parse: (value) => value as { kind: "warm" },
    onMessage: () => {},
    log: console.error,
    deathWatch,
  });
  void child.warm.then(() => child.send({ kind: "block" }));
}

function runBlocked(): void {
  const parent = connectParent(() => {
    writeSync(1, `${process.pid}\n`);
    for (;;);
  });
  parent.send({ kind: "warm" });
}
