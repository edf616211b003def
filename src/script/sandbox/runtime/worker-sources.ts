// Source text of the modules that Store adds to the runtime: the gate, through which the supervisor
// reaches a script's other handlers, a cache that stores nothing, and bindings without a service.

/**
 * Answers the supervisor. `/pulse` shows that the event loop turns. Handlers are called through the
 * service binding MAIN, so the script cannot change the code of the gate.
 */
export const gateSource = `
const reply = (value) => Response.json(value);
const message = (error) => String((error && error.message) || error);
const missing = /does not implement the method|does not export a \\w+\\(\\) function/;

async function handleEvents(main, events) {
  const handled = [];
  let error;
  const byKey = new Map();
  for (const [index, { key }] of events.entries()) byKey.set(key, [...(byKey.get(key) ?? []), index]);
  await Promise.all(Array.from(byKey.values(), async (indexes) => {
    for (const index of indexes) {
      try {
        const { time, ...event } = events[index];
        await main.notification({ type: "notification", ...event, time: new Date(time) });
        handled.push(index);
      } catch (fault) {
        error ??= missing.test(message(fault))
          ? "the script's default export has no notification handler: add one, or remove the rule"
          : message(fault);
        return;
      }
    }
  }));
  return { handled, error };
}

export default {
  async fetch(request, { MAIN }) {
    const { pathname } = new URL(request.url);
    if (pathname === "/pulse") return new Response("ok");
    if (pathname === "/scheduled") {
      const { cron, time } = await request.json();
      try {
        return reply(await MAIN.scheduled({ cron, scheduledTime: new Date(time) }));
      } catch (fault) {
        return reply({ outcome: "exception", error: message(fault) });
      }
    }
    if (pathname === "/notification") return reply(await handleEvents(MAIN, await request.json()));
    return new Response("", { status: 404 });
  },
};
`;

/** The cache API asks this service. Nothing is stored, so that every match is a miss. */
export const cacheSource = `
export default {
  async fetch(request) {
    if (request.method === "PUT") {
      await request.body?.pipeTo(new WritableStream());
      return new Response(null, { status: 204 });
    }
    if (request.method === "PURGE") return new Response(null, { status: 404 });
    return new Response(null, { status: 504, headers: { "cf-cache-status": "MISS" } });
  },
};
`;

/** Placeholder for a binding that exists in the configuration but cannot be given. */
export const unsupportedSource = `
export default function ({ binding, kind, fault }) {
  const description = "[env." + binding + ": " + kind + ", not supported]";
  const fail = () => {
    throw new TypeError("env." + binding + " is " + kind + fault);
  };
  class Unsupported {}
  return new Proxy(function unsupported() {}.bind(undefined), {
    get(_, property) {
      if (property === Symbol.toStringTag) return "Unsupported";
      if (property === "toString" || property === "toJSON" || property === Symbol.toPrimitive) {
        return () => description;
      }
      if (property === "constructor") return Unsupported;
      if (property === "then" || typeof property === "symbol") return undefined;
      return fail();
    },
    has: () => false,
    apply: fail,
    construct: fail,
    set: fail,
    defineProperty: fail,
    deleteProperty: fail,
  });
}
`;

/** Rate limiter that counts in memory, like the one of the process tier. */
export const rateLimiterSource = `
const maxKeys = 100_000;
export default function ({ limit, periodSeconds }) {
  const counts = new Map();
  let current = 0;
  return {
    async limit(options) {
      const key = options?.key;
      if (typeof key !== "string") throw new TypeError("limit() takes an object with a string as its key.");
      const period = Math.floor(Date.now() / (periodSeconds * 1000));
      if (period !== current) counts.clear();
      current = period;
      const count = (counts.get(key) ?? 0) + 1;
      if (count > limit) return { success: false };
      counts.set(key, count);
      if (counts.size > maxKeys) counts.delete(counts.keys().next().value);
      return { success: true };
    },
  };
}
`;

/** Dataset that discards its data points. */
export const datasetSource = `
export default function () {
  return {
    writeDataPoint(point) {
      if (point === undefined || (typeof point === "object" && point !== null)) return;
      throw new TypeError("writeDataPoint() takes an object.");
    },
  };
}
`;
