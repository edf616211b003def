// An S3 handler in memory with roles, and signed requests to its STS.
import { parseGrant } from "../../../src/access/grants.ts";
import { createRoles, type Roles, type Trust } from "../../../src/access/temporary/roles.ts";
import { openEngine } from "../../../src/open.ts";
import type { S3Options } from "../../../src/s3/handler.ts";
import { type DirectAnswer, type DirectScene, directScene, secretKey } from "../direct.ts";
import type { Key } from "../scene.ts";

export interface StsScene extends DirectScene {
  readonly roles: Roles;
  newRole(name: string, grants: readonly string[], trust: Partial<Trust>, seconds?: number): Promise<void>;
  /** Sends a form to STS; signed with the key, or not at all. */
  call(parameters: Readonly<Record<string, string>>, key?: Key): Promise<DirectAnswer>;
}

export async function stsScene(
  t: { after(run: () => Promise<void>): void },
  options: Partial<S3Options> = {},
): Promise<StsScene> {
  const store = await openEngine("memory:");
  t.after(() => store.engine.close());
  const roles = createRoles(store.documents, () => secretKey, Date.now);
  const scene = await directScene(t, { roles, ...options }, store);
  await scene.ask({ method: "PUT", path: "/photos" });
  for (const path of ["/photos/2026/a", "/photos/2025/a"])
    await scene.ask({ method: "PUT", path, body: Buffer.from("bytes") });
  return {
    ...scene,
    roles,
    async newRole(name, grants, trust, maxDurationSeconds = 3600) {
      const whole = { accounts: [], keys: [], providers: [], ...trust };
      const given = grants.map(parseGrant);
      await roles.create(name, { account: "default", grants: given, maxDurationSeconds, trust: whole });
    },
    call(parameters, key) {
      const body = Buffer.from(new URLSearchParams({ Version: "2011-06-15", ...parameters }).toString());
      const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
      const request = { method: "POST", path: "/", headers, body };
      if (key === undefined) return scene.send({ ...request, headers: { ...headers, host: "s3.test" } });
      return scene.ask(request, { key, service: "sts", region: "us-east-1" });
    },
  };
}

export function arn(role: string): string {
  return `arn:aws:iam::default:role/${role}`;
}

/** Returns the content of an element. */
export function element(text: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
}

export function credentialsIn({ text }: DirectAnswer): Key {
  return {
    accessKeyId: element(text, "AccessKeyId")!,
    secretAccessKey: element(text, "SecretAccessKey")!,
    sessionToken: element(text, "SessionToken")!,
  };
}
