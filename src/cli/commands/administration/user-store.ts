// The users that `store user` works on: those in the files of a store, or those of a running server
// by the console's API.
import { isRole, type Permissions } from "../../../console/auth/roles.ts";
import { createTokens, type TokenInfo } from "../../../console/auth/tokens.ts";
import { type ConsoleUser, type ConsoleUsers, createUsers } from "../../../console/auth/users.ts";
import { type Fields, isCount, isFields, isList, isText } from "../../../model/shape.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError } from "../../framework/command-error.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { type ConsoleClient, ConsoleRefusal, requireRoute, withConsole } from "../../store/remote/console.ts";
import { chosenService } from "../../store/remote/service.ts";

export type UserToken = Pick<TokenInfo, "id" | "name" | "state" | "user">;

export interface UserStore extends ConsoleUsers {
  tokens(): Promise<readonly UserToken[]>;
}

export async function withUsers<T>(
  invocation: Invocation,
  absent: "create" | "refuse",
  work: (users: UserStore) => Promise<T>,
): Promise<T> {
  const service = await chosenService(invocation);
  if (service === undefined) return withData(invocation, { absent }, (data) => work(localUsers(data)));
  return withConsole(invocation, service, (client) => work(consoleUsers(client)));
}

export function localUsers({ documents, recordAudit }: Pick<Data, "documents" | "recordAudit">): UserStore {
  const users = createUsers(documents, Date.now);
  const tokens = createTokens(documents, Date.now);
  return {
    ...users,
    tokens: () => tokens.list(),
    async create(name, permissions) {
      const isDone = await users.create(name, permissions);
      if (isDone) await recordAudit("create user", name);
      return isDone;
    },
    async change(name, permissions) {
      const isDone = await users.change(name, permissions);
      await recordAudit("change user", name);
      return isDone;
    },
    async delete(name) {
      // The tokens go first: after an interruption, the command can be repeated.
      await tokens.revokeOf(name);
      const isDone = await users.delete(name);
      await recordAudit("delete user", name);
      return isDone;
    },
  };
}

const path = "/api/users";
const maxUsers = 1_000_000;

function consoleUsers(client: ConsoleClient): UserStore {
  async function read() {
    const { users, tokens } = await requireRoute(client.request({ method: "GET", path }));
    if (!isList(users, maxUsers, isUser) || !isList(tokens, maxUsers, isToken)) throw invalidAnswer();
    return {
      users: users.map(toUser),
      tokens: tokens.map((token) => ({ ...token, user: token.user ?? undefined })),
    };
  }

  const list = async () => (await read()).users;
  return {
    list,
    tokens: async () => (await read()).tokens,
    find: async (name) => (await list()).find((user) => user.name === name),
    create: (name, permissions) =>
      isDone(409, () => client.request({ method: "POST", path, body: { name, ...permissions } })),
    change: (name, permissions) =>
      isDone(404, () => client.request({ method: "PUT", path, body: { name, ...permissions } })),
    delete: (name) => isDone(404, () => client.request({ method: "DELETE", path, query: { name } })),
  };
}

/** False if the console refuses with this status. */
async function isDone(refused: number, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof ConsoleRefusal && error.status === refused) return false;
    throw error;
  }
}

function isUser(value: unknown): value is Fields & { readonly name: string; readonly created: number } {
  if (!isFields(value)) return false;
  const { name, created, role, buckets } = value;
  const hasBuckets = isFields(buckets) && Object.values(buckets).every(isRole);
  return isText(name, 256) && isCount(created) && (role === null || isRole(role)) && hasBuckets;
}

function toUser({ name, created, role, buckets }: Fields & { name: string; created: number }): ConsoleUser {
  const permissions: Permissions = {
    ...(isRole(role) ? { role } : {}),
    ...(isFields(buckets) && Object.keys(buckets).length > 0
      ? { buckets: buckets as Permissions["buckets"] }
      : {}),
  };
  return { name, created, permissions };
}

interface Token {
  readonly id: string;
  readonly name: string;
  readonly state: UserToken["state"];
  readonly user: string | null;
}

function isToken(value: unknown): value is Token {
  if (!isFields(value)) return false;
  const { id, name, state, user } = value;
  const isState = state === "active" || state === "expired";
  return isText(id, 256) && isText(name, 4096) && isState && (user === null || isText(user, 256));
}

function invalidAnswer(): CommandError {
  return new CommandError("The console answered in a form that this version does not know.", {
    hint: "Use the version of the server.",
  });
}
