// Routes for the scripts of this server: configuration, live log, recent errors, restart, secrets.
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Route } from "../../route.ts";
import type { FaultDocument, LogDocument, ScriptDocument, ScriptsDocument } from "../../wire-types.ts";

export interface ConsoleScripts {
  list(): Promise<readonly ScriptDocument[]>;
  faults(): readonly FaultDocument[];
  /** Returns lines after the given number; waits for the next line if there are none yet. */
  lines(after: number, waitMilliseconds: number): Promise<LogDocument["lines"]>;
  /** False if the script does not exist; throws ConsoleError if it cannot be started. */
  restart(name: string): Promise<boolean>;
  /** Throws ConsoleError if the script does not exist, or the name or value is not valid. */
  putSecret(script: string, name: string, value: string): Promise<void>;
  /** False if the secret does not exist. */
  deleteSecret(script: string, name: string): Promise<boolean>;
}

/** Maximum wait for a log line; shorter than the usual timeout of proxies. */
const waitMilliseconds = 20_000;
const path = "/api/scripts";

export function scriptRoutes(scripts: ConsoleScripts): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { right: "view", on: "store" },
      async run() {
        const all = { scripts: await scripts.list(), faults: scripts.faults() };
        return json(all satisfies ScriptsDocument);
      },
    },
    {
      method: "GET",
      path: `${path}/log`,
      needs: { right: "view", on: "store" },
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
      needs: { right: "administer", on: "store" },
      async run({ query }) {
        if (await scripts.restart(query.text("script"))) return noContent();
        throw new ConsoleError(404, "There is no such script on this server.");
      },
    },
    {
      method: "PUT",
      path: `${path}/secrets`,
      needs: { right: "administer", on: "store" },
      // A value of 64 KiB, with room for characters that JSON escapes.
      maxJsonBytes: 256 * 1024,
      async run({ query, fields }) {
        // The value is in the body only: addresses are written to logs.
        const value = (await fields()).text("value");
        await scripts.putSecret(query.text("script"), query.text("name"), value);
        return noContent();
      },
    },
    {
      method: "DELETE",
      path: `${path}/secrets`,
      needs: { right: "administer", on: "store" },
      async run({ query }) {
        if (await scripts.deleteSecret(query.text("script"), query.text("name"))) return noContent();
        throw new ConsoleError(404, "This secret no longer exists.");
      },
    },
  ];
}
