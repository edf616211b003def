// Attacks of scripts in sandboxes: they take processor time.
import { loopAttacks } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("loop", loopAttacks);
