// The contract of the engine on every pair of ports, if all objects are encrypted.
import { engineContract } from "../contracts/engine.ts";
import { portPairs } from "../support/ports.ts";

for (const pair of portPairs) {
  engineContract(`${pair.name} with encryption always on`, (t, options) =>
    pair.openEngine(t, { ...options, encryption: "always" }),
  );
}
