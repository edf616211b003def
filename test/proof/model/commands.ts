// Commands of a model test: each runs on the model and on the store, and both answers must be
// equal. Commands are plain data, so that a failure can print them.
import type { AsyncCommand } from "fast-check";
import type { Answer, Operation, Task } from "./operation.ts";
import { type AnyWanted, resolve } from "./resolve.ts";
import type { Subject } from "./subject.ts";
import type { World } from "./world.ts";

export type Command = AsyncCommand<World, Subject>;

/** Counts of commands and faults by kind, for the report. */
export type Counts = Record<string, number>;

export function count(counts: Counts, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Creates a command; `shown` is printed on failure. */
export function command(shown: object, run: (world: World, subject: Subject) => Promise<void>): Command {
  return { check: () => true, run, toString: () => JSON.stringify(shown) };
}

export function ask(wanted: AnyWanted): Command {
  return command(wanted, async (world, subject) => {
    await both(world, subject, await resolve(world, wanted));
  });
}

export function advance(milliseconds: number): Command {
  return command({ do: "advance", milliseconds }, async (world) => world.advance(milliseconds));
}

export const reopen: Command = command({ do: "reopen" }, async (_, subject) => {
  await subject.ask({ do: "reopen" });
});

/** Sweeps and closes the store; then files and records must match exactly. */
export async function audit(world: World, subject: Subject): Promise<void> {
  await both(world, subject, { do: "sweep" });
  await subject.ask({ do: "audit" });
}

export async function both(world: World, subject: Subject, operation: Operation): Promise<void> {
  const task = world.task(operation);
  await subject.expect(task, await world.apply(task));
}

/** Returns the reason of a refusal: derived from a StoreError code, or the S3 error code. */
export function refusalOf(answer: Answer): string | undefined {
  const told = JSON.parse(answer) as { code?: number; status?: number; body?: unknown } | null;
  if (typeof told?.code === "number") return refusals[told.code] ?? String(told.code);
  if ((told?.status ?? 0) < 400) return undefined;
  return /<Code>(\w+)</.exec(String(told?.body))?.[1] ?? "";
}

const refusals: Readonly<Record<number, string>> = {
  10001: "InternalError",
  10043: "ServiceUnavailable",
  10044: "InsufficientStorage",
};

export async function tasksFor(world: World, wanted: readonly AnyWanted[]): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const one of wanted) tasks.push(world.task(await resolve(world, one)));
  return tasks;
}
