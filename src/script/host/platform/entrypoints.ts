// The classes of "cloudflare:workers". A WorkerEntrypoint is real; classes for services that Store does not have can be
// extended, so that a script starts, and fail when they are used.
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

/** The error for a part of the platform that Store does not have. */
export function unsupportedError(feature: string, advice?: string): Error {
  return new Error(`Store does not have ${feature}.${advice === undefined ? "" : ` ${advice}`}`);
}

/** A class that can be imported and extended, and cannot be instantiated. */
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

/** An object that throws when a property is read: it can be imported, not used. */
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
