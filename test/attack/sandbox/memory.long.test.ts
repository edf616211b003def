// Attacks of scripts in sandboxes that take memory: the rest of the table.
import { memoryAttacks, shareOfMemory } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("fill memory in other ways", memoryAttacks.slice(shareOfMemory));
