// Runs a table of attacks against one server, and prints the latency of the neighbour.
import assert from "node:assert/strict";
import { test } from "node:test";
import { skip } from "../../script/sandbox/requirements.ts";
import type { Attack } from "./attack.ts";
import { openStage, type Stage, type StageOptions } from "./stage.ts";

export interface Verification {
  /** Looks at the machine after all attacks, while the hostile script still runs. */
  readonly verify?: (stage: Stage) => Promise<void>;
}

export function testAttacks(
  what: string,
  attacks: readonly Attack[],
  { verify, ...options }: Omit<StageOptions, "attacks"> & Verification = {},
): void {
  test(`hostile scripts that ${what} are contained`, { skip }, async (t) => {
    const stage = await openStage(t, { attacks, ...options });
    const quiet = await stage.quiet();
    t.diagnostic(`neighbour without an attack: p99 ${quiet.p99.toFixed(1)} ms`);
    for (const [index, attack] of attacks.entries()) {
      await t.test(`a script that ${attack.name} is contained`, async (t) => {
        const { answer, p99, requests } = await stage.run(index);
        t.diagnostic(
          `${JSON.stringify(answer.slice(0, 100))}; neighbour: p99 ${p99.toFixed(1)} ms of ${requests}`,
        );
        if (attack.expects === "refused") assert.match(answer, /^refused: /);
        else if (attack.expects !== "contained") assert.match(answer, attack.expects);
      });
    }
    await verify?.(stage);
    assert.doesNotMatch(stage.server.log(), /^\[good\].*FORGED|^\{.*FORGED/m);
    const { code } = await stage.server.stop();
    assert.equal(code, 0, "the server exits normally");
  });
}
