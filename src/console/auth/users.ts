// Users of the console, stored as documents. A user signs in with tokens that belong to the user, so
// that a change of the role or the end of the user affects all of them.
import type { Documents } from "../../engine/records.ts";
import { isFields } from "../../model/shape.ts";
import { parseDocument } from "../../model/stored-document.ts";
import { isPermissions, type Permissions } from "./roles.ts";

export interface ConsoleUser {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly permissions: Permissions;
}

export interface ConsoleUsers {
  /** False if the user already exists; nothing is changed then. */
  create(name: string, permissions: Permissions): Promise<boolean>;
  /** Returns the users, sorted by name. */
  list(): Promise<ConsoleUser[]>;
  find(name: string): Promise<ConsoleUser | undefined>;
  /** False if the user does not exist. */
  change(name: string, permissions: Permissions): Promise<boolean>;
  /** False if the user does not exist. The caller revokes the tokens of the user. */
  delete(name: string): Promise<boolean>;
}

type StoredUser = Omit<ConsoleUser, "name">;

const kind = "console user";
const nameShape = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,59}$/;

/** Throws a RangeError. */
export function checkUserName(name: string): void {
  if (nameShape.test(name)) return;
  throw new RangeError(
    `The name of a user has 1 to 60 letters, digits and . _ @ + -, and begins with a letter or digit, unlike "${name}".`,
  );
}

export function createUsers(documents: Documents, now: () => number): ConsoleUsers {
  const read = async (name: string) => (nameShape.test(name) ? documents.get(kind, name) : undefined);
  return {
    async create(name, permissions) {
      checkUserName(name);
      const stored: StoredUser = { created: now(), permissions };
      return (await documents.put(kind, name, JSON.stringify(stored), undefined)) === "committed";
    },
    async list() {
      return (await documents.list(kind)).map(({ name, text }) => toUser(name, text));
    },
    async find(name) {
      const document = await read(name);
      return document && toUser(name, document.text);
    },
    async change(name, permissions) {
      for (;;) {
        const document = await read(name);
        if (document === undefined) return false;
        const stored: StoredUser = { ...parseUser(document.text), permissions };
        const outcome = await documents.put(kind, name, JSON.stringify(stored), document.revision);
        if (outcome === "committed") return true;
      }
    },
    async delete(name) {
      return nameShape.test(name) && (await documents.delete(kind, name));
    },
  };
}

function toUser(name: string, text: string): ConsoleUser {
  return { name, ...parseUser(text) };
}

function parseUser(text: string): StoredUser {
  return parseDocument(text, "A user of the console", (value): value is StoredUser => {
    return isFields(value) && Number.isFinite(value.created) && isPermissions(value.permissions);
  });
}
