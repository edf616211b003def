// The scripts of this server: what each answers to and holds, what it writes while one looks on, its last faults, and
// starting it anew.
import { ConsoleError, json, noContent } from "../response.ts";
import type { Route } from "../route.ts";
import type { FaultDocument, LogDocument, ScriptDocument, ScriptsDocument } from "../wire-types.ts";

export interface ConsoleScripts {
  list(): Promise<readonly ScriptDocument[]>;
  faults(): readonly FaultDocument[];
  /** Lines behind the number: at once, or when one comes within the wait. */
  lines(after: number, waitMilliseconds: number): Promise<LogDocument["lines"]>;
  /** False when there is none of that name; a ConsoleError tells why it could not be started. */
  restart(name: string): Promise<boolean>;
}

/** Shorter than proxies in front would wait for an answer. */
const waitMilliseconds = 20_000;
const path = "/api/scripts";

export function scriptRoutes(scripts: ConsoleScripts): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      async run() {
        const all = { scripts: await scripts.list(), faults: scripts.faults() };
        return json(all satisfies ScriptsDocument);
      },
    },
    {
      method: "GET",
      path: `${path}/log`,
      async run({ query }) {
        const after = Number(query.optional("after") ?? 0);
        if (!Number.isSafeInteger(after)) throw new ConsoleError(400, '"after" must be a whole number.');
        const lines = await scripts.lines(after, after === 0 ? 0 : waitMilliseconds);
        return json({ lines } satisfies LogDocument);
      },
    },
    {
      method: "POST",
      path: `${path}/restart`,
      async run({ query }) {
        if (await scripts.restart(query.text("script"))) return noContent();
        throw new ConsoleError(404, "There is no such script on this server.");
      },
    },
  ];
}
