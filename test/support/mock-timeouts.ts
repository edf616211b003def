// Mocks setTimeout for a test, also in modules that import it from node:timers.
import { syncBuiltinESMExports } from "node:module";
import { mock, type TestContext } from "node:test";

export interface MockedTimeouts {
  tick(milliseconds: number): void;
  /** Restores Node's timers; also called after the test. */
  reset(): void;
}

export function mockTimeouts(t?: Pick<TestContext, "after">): MockedTimeouts {
  mock.timers.enable({ apis: ["setTimeout"] });
  syncBuiltinESMExports();
  const reset = () => {
    mock.timers.reset();
    syncBuiltinESMExports();
  };
  t?.after(reset);
  return { tick: (milliseconds) => mock.timers.tick(milliseconds), reset };
}
