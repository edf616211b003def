// A shell whose processes may open a limited number of files and connections.
import { spawn } from "node:child_process";
import { program, type Shell, shellIn } from "./store.ts";

/** Limits descriptors in `start`; Node raises the soft limit to the hard limit. */
export function limitedShell(directory: string, descriptors: number | string): Shell {
  const start: Shell["start"] = (args, { environment = {} } = {}) => {
    const limited = ["-c", `ulimit -n ${descriptors}; exec "$@"`, "bash", process.execPath, program];
    const env = { PATH: process.env.PATH, HOME: directory, ...environment };
    return spawn("bash", [...limited, ...args], { cwd: directory, env });
  };
  return { ...shellIn(directory), start };
}
