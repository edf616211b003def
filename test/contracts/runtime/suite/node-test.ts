// The calls of node:test that the contracts use, for suites that run inside workerd. Suites are
// registered first and run by `runRegistered`, which reports each test when it has ended.

export interface Outcome {
  /** Titles of the suites and the test, joined by " > ". */
  readonly path: string;
  /** The error's message, if the test failed. */
  readonly error?: string;
}

type Act = (t: Context) => unknown;
type Hook = () => unknown;

interface Suite {
  readonly title: string;
  readonly entries: (Suite | { readonly title: string; readonly act: Act })[];
  readonly before: Hook[];
  readonly after: Hook[];
}

/** A test that takes longer has lost a response: no test of a contract waits for a timer. */
const patience = 20_000;

const top = newSuite("");
let current = top;

function newSuite(title: string): Suite {
  return { title, entries: [], before: [], after: [] };
}

export function describe(title: string, register: () => void): void {
  const suite = newSuite(title);
  const outer = current;
  outer.entries.push(suite);
  current = suite;
  try {
    register();
  } finally {
    current = outer;
  }
}

export function test(title: string, ...rest: unknown[]): void {
  current.entries.push({ title, act: rest.at(-1) as Act });
}

export function before(hook: Hook): void {
  current.before.push(hook);
}

export function after(hook: Hook): void {
  current.after.push(hook);
}

class Context {
  readonly endings: Hook[] = [];
  readonly #path: string;
  readonly #report: (outcome: Outcome) => void;
  failed = 0;

  constructor(path: string, report: (outcome: Outcome) => void) {
    this.#path = path;
    this.#report = report;
  }

  after(hook: Hook): void {
    this.endings.push(hook);
  }

  async test(title: string, ...rest: unknown[]): Promise<void> {
    if (!(await runTest(`${this.#path} > ${title}`, rest.at(-1) as Act, this.#report))) this.failed++;
  }
}

/** Takes the place of test/support/mock-timeouts.ts. */
export function mockTimeouts(): never {
  throw new Error("This runtime has no mock of its timers.");
}

/** Runs all registered suites in order. */
export async function runRegistered(report: (outcome: Outcome) => void): Promise<void> {
  await runSuite(top, [], report);
}

async function runSuite(
  suite: Suite,
  titles: readonly string[],
  report: (outcome: Outcome) => void,
): Promise<void> {
  for (const hook of suite.before) await hook();
  for (const entry of suite.entries) {
    const path = [...titles, entry.title];
    if ("act" in entry) await runTest(path.join(" > "), entry.act, report);
    else await runSuite(entry, path, report);
  }
  for (const hook of suite.after) await hook();
}

async function runTest(path: string, act: Act, report: (outcome: Outcome) => void): Promise<boolean> {
  const context = new Context(path, report);
  let error: string | undefined;
  try {
    await within(patience, async () => act(context));
    if (context.failed > 0) error = `${context.failed} subtests failed`;
  } catch (thrown) {
    error = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  }
  for (const hook of context.endings) await hook();
  report(error === undefined ? { path } : { path, error });
  return error === undefined;
}

async function within(milliseconds: number, act: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${milliseconds} ms`)), milliseconds);
  });
  try {
    await Promise.race([act(), late]);
  } finally {
    clearTimeout(timer);
  }
}
