// After a crash or a failed write, acknowledged writes must be stored, and each other write
// completely or not at all. Finds the possible model state that equals the store.
import type { Answer, Task } from "./operation.ts";
import type { Subject } from "./subject.ts";
import type { World } from "./world.ts";

/** A write in flight at the fault, with its answer if it was answered. */
export interface Doubtful {
  readonly task: Task;
  readonly answer: Answer | undefined;
}

/** Continues with the model state that matches the store; throws if none matches. */
export async function settle(world: World, subject: Subject, doubts: readonly Doubtful[]): Promise<void> {
  // An interrupted sweep is run again, which gives the same result.
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
    `The store is in none of the possible states.\n  answered: ${answered.join("\n  ")}\n` +
      `  the store: ${found}\n  ${tried.join("\n  ")}`,
  );
}

/** Yields every order of every subset that contains all answered writes, the likeliest first. */
function* orders(doubts: readonly Doubtful[]): Generator<Doubtful[]> {
  if (doubts.every(({ answer }) => answer === undefined)) yield [];
  for (const [i, first] of doubts.entries()) {
    const rest = doubts.filter((_, at) => at !== i);
    for (const behind of orders(rest)) yield [first, ...behind];
  }
}
