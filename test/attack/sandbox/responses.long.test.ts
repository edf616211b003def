// Attacks of scripts in sandboxes by their responses, and by what they do after them.
import { responseAttacks } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("answer in hostile ways", responseAttacks);
