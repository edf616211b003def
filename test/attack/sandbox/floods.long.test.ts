// Attacks of scripts in sandboxes: they take connections, timers and requests.
import { floodAttacks } from "./attacks/exhaustion.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("flood their bindings", floodAttacks);
