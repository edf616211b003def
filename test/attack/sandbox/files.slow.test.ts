// Attacks of scripts in sandboxes: they look for files.
import { fileAttacks } from "./attacks/files.ts";
import { testAttacks } from "./run-attacks.ts";

testAttacks("look for files", fileAttacks);
