// Attacks of scripts in sandboxes that take processor time: the first ones of the table.
import { loopAttacks, shareOfLoops } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("loop", loopAttacks.slice(0, shareOfLoops));
