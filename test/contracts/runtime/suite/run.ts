// Runs the registered suites in a request to the worker, and streams one line of JSON for each test.
import { type Outcome, runRegistered } from "./node-test.ts";
import type { SuiteEnvironment } from "./remote-store.ts";

/** Returns a fetch handler that runs all registered suites. */
export function createRun(use: (environment: SuiteEnvironment) => void) {
  return (_request: Request, found: SuiteEnvironment): Response => {
    use(found);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    const report = (outcome: Outcome) => void writer.write(encoder.encode(`${JSON.stringify(outcome)}\n`));
    void runRegistered(report).then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    );
    return new Response(readable);
  };
}
