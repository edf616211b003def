// A started `store dev` or `store serve`: where it answers, what it tells, and its end.
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
  /** What it said when it was ready. */
  readonly announced: {
    readonly url: string;
    readonly s3: { readonly url: string };
    readonly console: { readonly url: string };
    readonly scripts: readonly { readonly name: string }[];
  };
  ask(asked: Asked | string): Promise<Answer>;
  /** All it told so far: its own words and the consoles of its scripts. */
  log(): string;
  /** Waits until something is told that matches, behind what was told before `from`. */
  told(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
  /** After a test, whatever state it is in. */
  end(): Promise<void>;
}

/** How long a server may take for anything it is waited for. */
const patience = 60_000;

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
      // A script that blocks does not see that its supervisor is gone.
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
        const late = setTimeout(() => fail("was not told"), patience);
        const end = (settle: () => void) => {
          clearTimeout(late);
          waiting.delete(look);
          settle();
        };
        const look = () => {
          const match = pattern.exec(text.slice(from));
          if (match !== null) end(() => resolve(match));
          else if (child.exitCode !== null || child.signalCode !== null) fail("was not told before the end");
        };
        waiting.add(look);
        look();
      }),
  };
}
