// Attacks of scripts in sandboxes that take memory: the first ones of the table.
import { memoryAttacks, shareOfMemory } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("fill memory", memoryAttacks.slice(0, shareOfMemory));
