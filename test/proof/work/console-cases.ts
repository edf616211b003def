// The most expensive requests of the console's users, each with one role on one bucket. They use what
// the cases of keys have stored.
import type { WorkCase } from "./stage.ts";

const most = 1000;
const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));

const viewer: readonly WorkCase[] = [
  {
    name: "prefixes of an archive, with the objects below each",
    async prepare({ signIn }) {
      const ask = await signIn("folders:viewer");
      const prefixes = many(most - 1, (i) => String(i % 10).repeat(1 + (i % 3)));
      const body = JSON.stringify({ bucket: "folders", prefixes: [...prefixes, ""] });
      return ask({ method: "POST", path: "/api/archive", body });
    },
  },
  {
    name: "different prefixes of an archive, with the objects below each",
    async prepare({ signIn }) {
      const ask = await signIn("folders:viewer");
      const prefixes = many(most, (i) => String(i));
      return ask({
        method: "POST",
        path: "/api/archive",
        body: JSON.stringify({ bucket: "folders", prefixes }),
      });
    },
  },
  {
    name: "a search for a text that no key has",
    async prepare({ signIn }) {
      const ask = await signIn("folders:viewer");
      const path = `/api/objects/search?bucket=folders&prefix=&text=${"a".repeat(900)}`;
      return ask({ method: "GET", path });
    },
  },
  {
    name: "deleted objects of a bucket, with its versions",
    async prepare({ signIn }) {
      const ask = await signIn("versions:viewer");
      return ask({ method: "GET", path: "/api/objects/deleted?bucket=versions&prefix=" });
    },
  },
  {
    name: "open uploads of a bucket, with the parts of each",
    async prepare({ signIn }) {
      const ask = await signIn("uploads:viewer");
      return ask({ method: "GET", path: "/api/uploads?bucket=uploads" });
    },
  },
];

const administrator: readonly WorkCase[] = [
  {
    name: "checked rules with each other",
    async prepare({ signIn }) {
      const ask = await signIn("folders:administrator");
      const body = JSON.stringify({ rules: many(60_000, () => "").map(() => ({})) });
      return ask({ method: "POST", path: "/api/rules/check?bucket=folders&kind=lifecycle", body });
    },
  },
];

export const consoleCases: readonly WorkCase[] = [...viewer, ...administrator];
