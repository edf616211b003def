// Starts `store dev` or `store serve`, sends requests to it, reads its log and stops it.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { type Outcome, outcomeOf, type Shell } from "../cli/store.ts";
import { type Answer, type Asked, ask } from "./client.ts";
import { descendantsOf, isAlive } from "./inside.ts";

export interface StartOptions {
  readonly configs?: readonly string[];
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  /** The JSON line that the server prints when it is ready. */
  readonly announced: {
    readonly url: string;
    readonly s3: { readonly url: string };
    readonly console: { readonly url: string };
    readonly scripts: readonly { readonly name: string }[];
  };
  ask(asked: Asked | string): Promise<Answer>;
  /** Returns the output so far: lines of the server and console output of its scripts. */
  log(): string;
  /** Waits until the log matches the pattern; `from` is the offset where the search starts. */
  told(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  /** Sends the signal and waits until the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
  /** Ends the server in any state; called after the test. */
  end(): Promise<void>;
}

/** Timeout for log lines and for the end of a server, in milliseconds. */
const patience = 300_000;

export async function startServer(
  shell: Shell,
  mode: "dev" | "serve",
  options: StartOptions,
  servers: Server[],
): Promise<Server> {
  const configs = (options.configs ?? []).flatMap((config) => ["--config", config]);
  const data = ["--data", join(shell.directory, ".store"), "--create-buckets"];
  const args = [
    mode,
    ...configs,
    ...data,
    "--port",
    "0",
    "--s3-port",
    "0",
    "--console-port",
    "0",
    "--json",
    ...(options.args ?? []),
  ];
  const child = shell.start(args, { environment: { TMPDIR: shell.directory, ...options.environment } });
  child.stdin.end();
  const listening = listenTo(child);
  const outcome = outcomeOf(child);
  const [line] = await listening.told(/^\{.*\}$/m);
  const announced = JSON.parse(line) as Server["announced"];
  const port = Number(new URL(announced.url).port);
  const server: Server = {
    port,
    pid: child.pid!,
    announced,
    ask: (asked) => ask(port, typeof asked === "string" ? { path: asked } : asked),
    ...listening,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return outcome;
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const pids = descendantsOf(child.pid!);
      child.kill("SIGTERM");
      const forced = setTimeout(() => child.kill("SIGKILL"), patience);
      await outcome;
      clearTimeout(forced);
      // Kill blocked scripts: they do not notice that their supervisor has ended.
      for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    },
  };
  servers.push(server);
  return server;
}

function listenTo(child: ChildProcessWithoutNullStreams): Pick<Server, "log" | "told"> {
  let text = "";
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new TextDecoder();
    stream.on("data", (piece: Buffer) => {
      text += decoder.decode(piece, { stream: true });
      wake();
    });
  }
  child.once("close", wake);
  return {
    log: () => text,
    told: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => end(() => reject(new Error(`${pattern} ${why}:\n${text}`)));
        const late = setTimeout(() => fail("was not logged in time"), patience);
        const end = (settle: () => void) => {
          clearTimeout(late);
          waiting.delete(look);
          settle();
        };
        const look = () => {
          const match = pattern.exec(text.slice(from));
          if (match !== null) end(() => resolve(match));
          else if (child.exitCode !== null || child.signalCode !== null)
            fail("was not logged before the server ended");
        };
        waiting.add(look);
        look();
      }),
  };
}
