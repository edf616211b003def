// Routes for the audit log: search by text, kind and time, and verify the chain. Only administrators
// of the whole store read it, because it names every user and address.
import { type AuditLog, auditActions } from "../../../audit/audit-log.ts";
import { ConsoleError, json } from "../../response.ts";
import type { Query, Route } from "../../route.ts";
import type { AuditDocument, AuditRow, ChainDocument } from "../../wire-administration.ts";
import type { AuditSearch, NumberedEntry } from "./audit-search.ts";

const needs = { right: "administer", on: "store" } as const;

/** Kinds of actions in the filter, by how their names begin. */
const kinds: Readonly<Record<string, RegExp>> = {
  deletions: /^(delete|expire|revoke|end) /,
  creations: /^(create|import|put) /,
  changes: /^(change|rotate|enable|disable|restore|encrypt|apply|restart|bypass) /,
  "sign-ins": /^(sign|refuse sign)/,
  denials: /^(deny|refuse) /,
};

export function auditRoutes(search: AuditSearch, log: Pick<AuditLog, "verify">): readonly Route[] {
  let verifying: Promise<ChainDocument> | undefined;
  return [
    {
      method: "GET",
      path: "/api/audit",
      needs,
      async run({ query }) {
        const { entries, isMore } = await search.find({
          text: query.text("text").trim().slice(0, 200),
          actions: parseActions(query),
          since: toIso(query.time("since")),
          until: toIso(query.time("until")),
          before: query.optional("before") === undefined ? undefined : query.number("before", 1, 2 ** 50),
          limit: query.number("limit", 100, 500),
        });
        const before = isMore ? entries.at(-1)?.number : undefined;
        return json({ entries: entries.map(toRow), before } satisfies AuditDocument);
      },
    },
    {
      method: "POST",
      path: "/api/audit/verify",
      needs,
      async run() {
        // Verifying reads the whole log: requests at the same time share one run.
        verifying ??= verify(log).finally(() => {
          verifying = undefined;
        });
        return json(await verifying);
      },
    },
  ];
}

function parseActions(query: Query): readonly string[] | undefined {
  const kind = query.optional("kind");
  const action = query.optional("action");
  if (action !== undefined) {
    if (auditActions.some((one) => one === action)) return [action];
    throw new ConsoleError(400, `There is no action "${action}".`);
  }
  if (kind === undefined) return undefined;
  const shape = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (shape === undefined)
    throw new ConsoleError(400, `"kind" must be one of ${Object.keys(kinds).join(", ")}.`);
  return auditActions.filter((one) => shape.test(one));
}

function toIso(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

function toRow({ entry }: NumberedEntry): AuditRow {
  const { seq = null, time, act: action, subject = null, detail = null, count = 1, by } = entry;
  const { face, name = null, remoteAddress: address = null, request = null } = by;
  return {
    seq,
    time: Date.parse(time),
    action,
    subject,
    detail,
    count,
    by: { face, name, address, request },
  };
}

async function verify(log: Pick<AuditLog, "verify">): Promise<ChainDocument> {
  const { entries, lastTime = null, head, breaks, breakCount } = await log.verify();
  return {
    ...{ entries, isWhole: breakCount === 0, lastTime, head: head?.hash ?? null },
    ...{ breaks: breaks.slice(0, 20).map(({ message }) => message), breakCount },
  };
}
