// The classes of "cloudflare:workers". WorkerEntrypoint works. Classes of unsupported services can
// be extended, so that a script starts, but throw when they are used.
import type { ScriptContext } from "../../context.ts";
import type { Environment } from "../environment.ts";

export class WorkerEntrypoint {
  readonly ctx: ScriptContext;
  readonly env: Environment;

  constructor(ctx: ScriptContext, env: Environment) {
    this.ctx = ctx;
    this.env = env;
  }
}

export class RpcTarget {}

/** Creates the error for an unsupported feature. */
export function unsupportedError(feature: string, advice?: string): Error {
  return new Error(`Store does not have ${feature}.${advice === undefined ? "" : ` ${advice}`}`);
}

/** Creates a class that can be imported and extended, but throws when it is instantiated. */
export function unsupportedClass(name: string, feature: string): new () => object {
  const classes = {
    [name]: class {
      constructor() {
        throw unsupportedError(feature);
      }
    },
  };
  return classes[name]!;
}

export function unsupportedFunction(feature: string, advice?: string): () => never {
  return () => {
    throw unsupportedError(feature, advice);
  };
}

/** Creates an object that can be imported, but throws when a property is read. */
export function unsupportedObject(feature: string): object {
  return new Proxy(
    {},
    {
      get(target, name) {
        if (typeof name === "symbol" || name === "then") return Reflect.get(target, name) as unknown;
        throw unsupportedError(feature);
      },
    },
  );
}
