// Requests that are multiplied with the settings of a bucket, which one person writes and others use.
import { markSetting } from "../../../src/console/api/setting-changes.ts";
import { deletion } from "./key-cases.ts";
import type { WorkCase, WorkStage } from "./stage.ts";

const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));
/** Almost a prefix of every key of the bucket, so that each comparison reads all of it. */
const almostPrefix = "a".repeat(900);

/** A bucket with as many lock rules with long prefixes as the console stores. */
async function createLocks({ call, fill, send, signIn, stored }: WorkStage): Promise<void> {
  await call({ method: "PUT", path: "/locks" });
  await fill(stored, (i) => ({ method: "PUT", path: `/locks/${almostPrefix}${i}`, body: Buffer.from("x") }));
  const rules = many(250, (i) => `${almostPrefix}b${i}`).map((prefix) => {
    return { isEnabled: true, prefix, condition: { kind: "indefinite" } };
  });
  const ask = await signIn("locks:administrator");
  const body = JSON.stringify({ rules, seen: markSetting(undefined) });
  await send(ask({ method: "PUT", path: "/api/rules?bucket=locks&kind=locks", body }));
}

export const settingsCases: readonly WorkCase[] = [
  {
    name: "keys of a page of the console, with the prefixes of lock rules",
    async prepare(stage) {
      await createLocks(stage);
      const ask = await stage.signIn("locks:viewer");
      return ask({ method: "GET", path: "/api/objects?bucket=locks&prefix=&limit=1000" });
    },
  },
  {
    name: "deleted keys, with the prefixes of lock rules",
    async prepare({ keyWith }) {
      const sign = await keyWith("locks:delete");
      return sign(deletion("locks", (i) => `<Key>${almostPrefix}none${i}</Key>`));
    },
  },
];
