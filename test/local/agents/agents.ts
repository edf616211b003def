// Starts agent processes that open a data directory, and ends them when the test ends.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Command, Refused, Reply } from "./agent.ts";

export interface Agent {
  readonly pid: number;
  /**
   * Sends a command. Rejects with a Refusal if it was refused, or another error if the process
   * ended.
   */
  ask<T = unknown>(command: Command): Promise<T>;
  kill(): Promise<void>;
}

/** The error with which an agent process refused a command. */
export class Refusal extends Error {
  readonly code: number | undefined;

  constructor({ name, message, code }: Refused) {
    super(`${name}: ${message}`);
    this.code = code;
  }
}

export interface AgentOptions {
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts this number of agents on the directory, calls the function, and always ends the agents.
 */
export async function withAgents(
  directory: string,
  count: number,
  work: (...agents: Agent[]) => Promise<void>,
  options: AgentOptions = {},
): Promise<void> {
  const started = await Promise.allSettled(Array.from({ length: count }, () => start(directory, options)));
  const agents = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  try {
    for (const result of started) if (result.status === "rejected") throw result.reason;
    await work(...agents);
  } finally {
    await Promise.all(agents.map((agent) => agent.kill()));
  }
}

async function start(directory: string, { env = {} }: AgentOptions): Promise<Agent> {
  const program = fileURLToPath(new URL("./agent.js", import.meta.url));
  const child = fork(program, [directory], { env: { ...process.env, ...env } });
  const agent = converse(child);
  await agent.ready;
  return agent;
}

function converse(child: ChildProcess): Agent & { readonly ready: Promise<unknown> } {
  const exited = once(child, "exit");
  const asked = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  let over: Error | undefined;

  child.on("message", ({ id, result, refused }: Reply) => {
    const question = asked.get(id);
    asked.delete(id);
    if (refused === undefined) question?.resolve(result);
    else question?.reject(new Refusal(refused));
  });
  child.once("exit", (code, signal) => {
    over = new Error(`The process with the data directory open ended with ${String(code ?? signal)}`);
    for (const question of asked.values()) question.reject(over);
  });

  function answer(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (over === undefined) asked.set(id, { resolve, reject });
      else reject(over);
    });
  }

  return {
    pid: child.pid!,
    ready: answer(nextId++),
    ask<T>(command: Command): Promise<T> {
      const id = nextId++;
      const answered = answer(id);
      if (over === undefined) child.send({ id, command });
      return answered as Promise<T>;
    },
    async kill() {
      if (over !== undefined) return;
      child.kill("SIGKILL");
      await exited;
    },
  };
}
