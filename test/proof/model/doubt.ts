// After a crash or a failed write: what was acknowledged is there, each other write is there whole or not at all.
// Which it was is found by holding what the store shows against every model it may have become.
import type { Answer, Task } from "./operation.ts";
import type { Subject } from "./subject.ts";
import type { World } from "./world.ts";

/** A write that was under way, with its answer if it had one. */
export interface Doubtful {
  readonly task: Task;
  readonly answer: Answer | undefined;
}

/** The world goes on as the store has it; throws when the store is in none of the states it may be in. */
export async function settle(world: World, subject: Subject, doubts: readonly Doubtful[]): Promise<void> {
  // What a sweep had done when it was cut off is no doubt of its own: done again, it is done.
  const sweep = world.task({ do: "sweep" });
  await subject.perform(sweep);
  const found = await subject.perform(world.task({ do: "snapshot" }));
  const tried: string[] = [];
  for (const chosen of orders(doubts)) {
    const tasks = chosen.map(({ task }) => task);
    const fork = await world.fork([...tasks, sweep]);
    const isAsTold = chosen.every(({ answer }, i) => answer === undefined || answer === fork.answers[i]);
    const shown = await fork.look({ do: "snapshot" });
    if (isAsTold && shown === found) return fork.take();
    await fork.drop();
    tried.push(`with ${JSON.stringify(tasks.map(({ operation }) => operation))}: ${shown}`);
  }
  const answered = doubts.map(({ task, answer }) => `${JSON.stringify(task.operation)}: ${answer ?? "none"}`);
  throw new Error(
    `The store is in none of the states it may be in.\n  answered: ${answered.join("\n  ")}\n` +
      `  the store: ${found}\n  ${tried.join("\n  ")}`,
  );
}

/** Every order of every choice that has all of the answered ones; the likeliest first. */
function* orders(doubts: readonly Doubtful[]): Generator<Doubtful[]> {
  if (doubts.every(({ answer }) => answer === undefined)) yield [];
  for (const [i, first] of doubts.entries()) {
    const rest = doubts.filter((_, at) => at !== i);
    for (const behind of orders(rest)) yield [first, ...behind];
  }
}
