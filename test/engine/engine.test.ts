// The contract of the engine on every pair of ports.
import { engineContract } from "../contracts/engine.ts";
import { portPairs } from "../support/ports.ts";

for (const pair of portPairs) {
  engineContract(pair.name, (t, options) => pair.openEngine(t, options));
}
