// Which requests to the console are administrative acts, and what they are done to.

import type { ActName } from "../../audit/audit-log.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import { tokenIdOf } from "../auth/tokens.ts";
import type { Call } from "../route.ts";
import type { SessionDocument } from "../wire-types.ts";

export interface ConsoleAct {
  readonly act: ActName;
  readonly subject?: string | undefined;
  readonly count?: number;
  /** Whose it is, where that is not the session it came with. */
  readonly name?: string | undefined;
}

type Asked = Omit<Call, "session">;
type Read = (call: Asked, response: HttpResponse) => ConsoleAct | Promise<ConsoleAct>;

const onKey =
  (act: ActName): Read =>
  ({ query }) => ({ act, subject: query.text("key") });

const reads: Readonly<Record<string, Read>> = {
  "POST /api/buckets": async ({ fields }) => ({
    act: "create bucket",
    subject: (await fields()).text("name"),
  }),
  "DELETE /api/buckets": ({ query }) => ({ act: "delete bucket", subject: query.text("bucket") }),
  "PUT /api/rules": ({ query }) => ({
    act: query.text("kind") === "cors" ? "change cors" : "change lifecycle",
    subject: query.text("bucket"),
  }),
  // Which one it became stands in the answer alone.
  "POST /api/keys": (_, { body }) => ({
    act: "create key",
    subject: (JSON.parse(String(body)) as { accessKeyId: string }).accessKeyId,
  }),
  "POST /api/keys/rotate": onKey("rotate key"),
  "POST /api/keys/disable": onKey("disable key"),
  "POST /api/keys/enable": onKey("enable key"),
  "DELETE /api/keys": onKey("delete key"),
  "POST /api/scripts/restart": ({ query }) => ({ act: "restart script", subject: query.text("script") }),
  "POST /api/session": (_, { body }) => ({
    act: "sign in",
    name: (JSON.parse(String(body)) as SessionDocument).name,
  }),
  "DELETE /api/session": () => ({ act: "sign out" }),
};

/** Undefined for everything that is none; to be asked when it is done. */
export async function actOf(
  name: string,
  call: Asked,
  response: HttpResponse,
): Promise<ConsoleAct | undefined> {
  return Object.hasOwn(reads, name) ? reads[name]!(call, response) : undefined;
}

/**
 * Sign-ins that were refused: anybody can try, so of many within a second one is noted, with how many there were. Undefined
 * for one that is only counted.
 */
export function createRefusals(now: () => number): (call: Asked) => Promise<ConsoleAct | undefined> {
  let notedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return async ({ fields }) => {
    count++;
    if (Math.abs(now() - notedAt) < refusalMilliseconds) return undefined;
    notedAt = now();
    const act: ConsoleAct = {
      act: "refuse sign-in",
      count,
      name: tokenIdOf((await fields()).text("token").trim()),
    };
    count = 0;
    return act;
  };
}

const refusalMilliseconds = 1000;
