// Attacks of scripts in sandboxes: they reach for what they were not given.
import { rightsAttacks } from "./attacks/rights.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("reach for what they were not given", rightsAttacks);
