// Attacks of scripts in sandboxes: they take memory.
import { memoryAttacks } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("fill memory", memoryAttacks);
