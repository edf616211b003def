// Attacks of scripts in sandboxes that take processor time: the rest of the table.
import { loopAttacks, shareOfLoops } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("loop in other ways", loopAttacks.slice(shareOfLoops));
