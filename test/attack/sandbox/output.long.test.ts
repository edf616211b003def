// Attacks of scripts in sandboxes: they misuse logs and responses.
import { logAttacks, poisonAttacks, responseAttacks } from "./attacks/output.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("misuse the log", logAttacks);
testAttacks("misuse their response", responseAttacks);
// Each needs a server of its own: the script stays damaged.
for (const attack of poisonAttacks) testAttacks(`damage their globals (${attack.name})`, [attack]);
