// A thread that kills its process when the parent process has ended.
import process from "node:process";
import { workerData } from "node:worker_threads";

/** Shorter than the start of the next server, which may want the same port. */
const checkMilliseconds = 200;

const never = new Int32Array(new SharedArrayBuffer(4));
while (process.ppid === workerData) Atomics.wait(never, 0, 0, checkMilliseconds);
process.kill(process.pid, "SIGKILL");
