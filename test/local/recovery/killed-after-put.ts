// A program that stores an object with a file and is killed before it closes the store.
import { createEngine } from "../../../src/engine/create.ts";
import { openLocal } from "../../../src/local/open.ts";

const engine = createEngine(await openLocal(process.argv[2]!));
await engine.put("photos", "dog", Buffer.alloc(1024 * 1024, "a dog"));
process.kill(process.pid, "SIGKILL");
