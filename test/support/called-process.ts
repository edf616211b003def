// Starts a process that answers calls over IPC, so that load, probes and writers do not run in the
// event loop of the test.
import { fork } from "node:child_process";
import { once } from "node:events";

/** Functions that the other process provides. Arguments and results are plain JSON. */
export type Calls = Readonly<Record<string, (given: never) => Promise<unknown>>>;

export interface CalledProcess<C extends Calls> {
  readonly pid: number;
  call<N extends keyof C & string>(name: N, given: Parameters<C[N]>[0]): Promise<Awaited<ReturnType<C[N]>>>;
  /** Kills the process and waits until it has ended. */
  end(): Promise<void>;
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly given: unknown;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

export function startCalledProcess<C extends Calls>(program: string): CalledProcess<C> {
  const child = fork(program, [], { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const waiting = new Map<number, (reply: Reply) => void>();
  let nextId = 1;
  child.on("message", (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  void exited.then(() => {
    for (const [id, settle] of waiting) settle({ id, error: `${program} has ended` });
    waiting.clear();
  });
  return {
    pid: child.pid!,
    call(name, given) {
      const id = nextId++;
      return new Promise((resolve, reject) => {
        waiting.set(id, ({ result, error }) => {
          if (error === undefined) resolve(result as Awaited<ReturnType<C[typeof name]>>);
          else reject(new Error(`${name}: ${error}`));
        });
        child.send({ id, name, given } satisfies Question);
      });
    },
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Called in the other process: answers calls until the parent process ends. */
export function answerCalls(calls: Calls): void {
  process.on("message", async ({ id, name, given }: Question) => {
    let reply: Reply;
    try {
      reply = { id, result: await calls[name]!(given as never) };
    } catch (error) {
      reply = { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    if (process.connected) process.send!(reply);
  });
  process.on("disconnect", () => process.exit());
}
