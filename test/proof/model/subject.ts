// The store under test: on its own disk, open in its own process, which can be asked, killed and
// started again on the same directory.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDisk, type Disk } from "./disk.ts";
import { createFaults, type Faults } from "./fault-library.ts";
import type { Answer, Operation, Task } from "./operation.ts";
import { answerDigest, type Question, type Reply, type Unexpected } from "./questions.ts";

export interface Subject {
  readonly disk: Disk;
  /** Undefined if the fault library could not be built. */
  readonly faults: Faults | undefined;
  /** Rejects with Death if the process ended before it answered. */
  ask<T>(question: Question): Promise<T>;
  perform(task: Task): Promise<Answer>;
  /** Checks the answer of a task. Tasks are sent in batches, so a later call may throw. */
  expect(task: Task, answer: Answer): Promise<void>;
  /** Sends all waiting tasks, so that a fault injected next does not affect them. */
  flush(): Promise<void>;
  /** Ends the process with SIGKILL if it still runs. */
  kill(): Promise<void>;
  /** Starts the process again on the same directory. */
  start(): Promise<void>;
  /** Removes the process and the disk. */
  remove(): Promise<void>;
}

const mostWaiting = 16;

export function assertSame(operation: Operation, actual: Answer, expected: Answer): void {
  if (actual === expected) return;
  throw new Error(`${JSON.stringify(operation)}\n  the model: ${expected}\n  the store: ${actual}`);
}

export class Death extends Error {}

export async function createSubject(library: string | undefined): Promise<Subject> {
  const disk = createDisk();
  const control = join(disk.beside, "faults");
  const faults = library === undefined ? undefined : createFaults(library, control, disk.directory);
  let process = startProcess(faults);

  const expected: { readonly task: Task; readonly answer: Answer }[] = [];

  async function flush(): Promise<void> {
    if (expected.length === 0) return;
    const waiting = expected.splice(0);
    const tasks = waiting.map(({ task, answer }) => ({ task, digest: answerDigest(answer) }));
    const unexpected = await process.ask<Unexpected | null>({ do: "tasks", tasks });
    if (unexpected === null) return;
    const { task, answer } = waiting[unexpected.at]!;
    assertSame(task.operation, unexpected.answer, answer);
  }

  const subject: Subject = {
    disk,
    faults,
    async ask(question) {
      await flush();
      return process.ask(question);
    },
    perform: (task) => subject.ask({ do: "task", task }),
    async expect(task, answer) {
      expected.push({ task, answer });
      if (expected.length >= mostWaiting) await flush();
    },
    flush,
    kill: () => process.kill(),
    async start() {
      process = startProcess(faults);
      await process.ask({ do: "open", directory: disk.directory });
    },
    async remove() {
      await process.kill();
      faults?.close();
      disk.remove();
    },
  };
  try {
    await subject.ask({ do: "open", directory: disk.directory });
  } catch (error) {
    await subject.remove();
    throw error;
  }
  return subject;
}

const program = fileURLToPath(new URL("./subject-process.js", import.meta.url));

interface SubjectProcess {
  ask<T>(question: Question): Promise<T>;
  kill(): Promise<void>;
}

function startProcess(faults: Faults | undefined): SubjectProcess {
  const child: ChildProcess = fork(program, [], {
    env: { ...process.env, ...faults?.env },
    // Warnings are off: injected faults make housekeeping fail, which prints warnings.
    execArgv: ["--no-warnings"],
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });
  const exited = once(child, "exit");
  const asked = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  let over: Death | undefined;
  let said = "";
  child.stderr!.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-4000);
  });
  child.on("message", (reply: Reply) => {
    const question = asked.get(reply.id);
    asked.delete(reply.id);
    if ("failed" in reply) question?.reject(new Error(reply.failed));
    else question?.resolve(reply.answer);
  });
  child.once("exit", (code, signal) => {
    over = new Death(`The process of the store ended with ${String(code ?? signal)}. ${said}`);
    for (const question of asked.values()) question.reject(over);
    asked.clear();
  });
  return {
    ask<T>(question: Question): Promise<T> {
      return new Promise((resolve, reject) => {
        if (over !== undefined) return reject(over);
        const id = nextId++;
        asked.set(id, { resolve: resolve as (answer: unknown) => void, reject });
        // Ignored: if the process dies meanwhile, its exit event rejects the request.
        child.send({ id, question }, () => {});
      });
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
