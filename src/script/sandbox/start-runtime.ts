// Starts the runtime of one sandbox, behind the wall or, where there is none, without it.
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { defaultOutputLimits, forEachLine } from "../../child/output.ts";
import { withDeathSignal } from "../../child/parent-death.ts";
import { configFile } from "./runtime/runtime-config.ts";
import type { SandboxFolder } from "./sandbox-folder.ts";
import { buildWall, socketsPath } from "./wall/build-wall.ts";
import { startWall } from "./wall/start-wall.ts";
import type { SandboxLimits, WallTools } from "./wall/types.ts";

export interface RuntimeStart {
  readonly binary: string;
  readonly folder: SandboxFolder;
  /** Undefined: the runtime runs without the wall. */
  readonly wall: WallTools | undefined;
  readonly limits: SandboxLimits;
  readonly onLine: (text: string, stream: "stdout" | "stderr") => void;
}

export interface RunningRuntime {
  /** Resolves with the process id of the runtime; rejects if it was not started. */
  readonly pid: Promise<number>;
  /** Ends the runtime, and the wall around it. */
  kill(): void;
  /** Resolves with the exit code, the signal or the error, as text. */
  readonly ended: Promise<string>;
}

/** Folder of the script's files behind the wall. */
const walledFiles = "/script";

/** Little at once: the process that reads the output also forwards the requests of all scripts. */
const outputLimits = { ...defaultOutputLimits, bytesPerSecond: 1024 * 1024, burstMilliseconds: 20 };

/** Paths in the runtime's configuration: folder of the sockets, as the runtime sees it. */
export function visibleSockets(folder: SandboxFolder, wall: WallTools | undefined): string {
  return wall === undefined ? folder.sockets : socketsPath;
}

export function startRuntime({ binary, folder, wall, limits, onLine }: RuntimeStart): RunningRuntime {
  const visibleFiles = wall === undefined ? folder.files : walledFiles;
  const args = ["serve", "--experimental", "--verbose", `${visibleFiles}/${configFile}`];
  const { child, pid } =
    wall === undefined
      ? startUnwalled(binary, args)
      : startWalled({
          tools: wall,
          workerd: binary,
          files: [{ from: folder.files, to: walledFiles }],
          sockets: folder.sockets,
          ...{ args, limits },
        });
  pid.catch(() => {});
  forEachLine(child.stdout, (text) => onLine(text, "stdout"), outputLimits);
  forEachLine(child.stderr, (text) => onLine(text, "stderr"), outputLimits);
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve(describeEnd(code, signal)));
    child.on("error", (error) => resolve(error.message));
  });
  return { pid, ended, kill: () => void child.kill("SIGKILL") };
}

interface StartedChild {
  readonly child: ReturnType<typeof startWall>["child"];
  readonly pid: Promise<number>;
}

function startWalled(options: Parameters<typeof buildWall>[0]): StartedChild {
  const { child, workerdPid } = startWall(buildWall(options));
  return { child, pid: workerdPid };
}

function startUnwalled(binary: string, args: readonly string[]): StartedChild {
  const command = withDeathSignal({ program: binary, args });
  const child = spawn(command.program, command.args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...{ env: {}, cwd: "/", detached: true },
  });
  const pid = child.pid === undefined ? Promise.reject(new Error("not started")) : Promise.resolve(child.pid);
  return { child: child as StartedChild["child"] & { readonly stdout: Readable }, pid };
}

/** bubblewrap reports the signal that ended the runtime as an exit code above 128. */
function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `signal ${signal}`;
  if (code === 128 + 9) return "signal SIGKILL";
  return `exit code ${code}`;
}
