// Attacks of scripts in sandboxes: they reach for private addresses.
import { networkAttacks } from "./attacks/network.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("reach for private addresses", networkAttacks, { outbound: '"public"' });
