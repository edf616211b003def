// Attacks of scripts in sandboxes: they take processor time, memory and connections.
import { floodAttacks, loopAttacks, memoryAttacks } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("loop", loopAttacks);
testAttacks("fill memory", memoryAttacks);
testAttacks("flood their bindings", floodAttacks);
