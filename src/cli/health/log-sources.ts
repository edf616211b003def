// Finds the logs of running servers: the console that has the lines of scripts, and the file of
// requests.
import { createTokens } from "../../console/auth/tokens.ts";
import { dayMilliseconds } from "../../model/limits.ts";
import { isHere, listServers, type ServerRecord } from "../../servers/server-record.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";
import { noConsoleError } from "../store/remote/console.ts";
import { chosenService } from "../store/remote/service.ts";
import { reachableUrl } from "./check-ports.ts";
import { type ConsoleClient, signIn } from "./console-client.ts";

const noServer = "No server of this store is running.";

/** Signs in to the consoles, runs `work`, and signs out. */
export async function withConsoles<T>(
  invocation: Invocation,
  work: (consoles: readonly ConsoleClient[]) => Promise<T>,
): Promise<T> {
  const { options, environment } = invocation;
  const token = environment.STORE_CONSOLE_TOKEN || undefined;
  const service = options.text("console") === undefined ? await chosenService(invocation) : undefined;
  if (service !== undefined) {
    const { console: access } = service;
    if (access === undefined) throw noConsoleError(invocation);
    return withConsole([parseConsoleUrl(access.url)], access.token, work);
  }
  const url = options.text("console") ?? (environment.STORE_CONSOLE_URL || undefined);
  if (url !== undefined) return withConsole([parseConsoleUrl(url)], requireToken(token), work);
  return withData(invocation, { absent: "refuse" }, async (data) => {
    const urls = consoleUrls(await listServers(data.documents));
    return token === undefined
      ? withOwnToken(data, (own) => withConsole(urls, own, work))
      : withConsole(urls, token, work);
  });
}

function requireToken(token: string | undefined): string {
  if (token !== undefined) return token;
  throw new CommandError("The console needs a token: STORE_CONSOLE_TOKEN is not set.", {
    hint: [
      "Create one where the server runs: store console token --role viewer",
      "Then: export STORE_CONSOLE_TOKEN=sct-…",
    ],
  });
}

function parseConsoleUrl(text: string): string {
  if (/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && URL.canParse(text)) return new URL(text).origin;
  throw usageError(
    `--console must be a URL without a path, such as http://127.0.0.1:9001, not "${text}".`,
    "The server prints it at its start.",
  );
}

function consoleUrls(servers: readonly ServerRecord[]): string[] {
  const urls = servers.flatMap((server) => {
    const url = server.ports.find(({ name }) => name === "console")?.url;
    return url === undefined ? [] : [reachableUrl(server, url).origin];
  });
  if (urls.length > 0) return urls;
  throw new CommandError(noServer, {
    hint: [
      "Start one: store serve",
      "For a server of another store: --console URL, with its token in STORE_CONSOLE_TOKEN",
    ],
  });
}

async function withConsole<T>(
  urls: readonly string[],
  token: string,
  work: (consoles: readonly ConsoleClient[]) => Promise<T>,
): Promise<T> {
  const consoles: ConsoleClient[] = [];
  try {
    for (const url of urls) consoles.push(await signIn(url, token));
    return await work(consoles);
  } finally {
    await Promise.all(consoles.map((console) => console.close()));
  }
}

/** A caller who can open the store may create tokens anyway: this one lives as long as the command. */
async function withOwnToken<T>(data: Data, work: (token: string) => Promise<T>): Promise<T> {
  const tokens = createTokens(data.documents, Date.now);
  const { info, token } = await tokens.create({
    name: "store logs",
    expires: Date.now() + dayMilliseconds,
    permissions: { role: "viewer" },
  });
  try {
    return await work(token);
  } finally {
    await tokens.revoke(info.id);
  }
}

/** Returns the request logs of the servers on this machine. */
export async function findRequestLogs(invocation: Invocation): Promise<string[]> {
  const servers = await withData(invocation, { absent: "refuse" }, ({ documents }) => listServers(documents));
  const here = servers.filter(isHere);
  if (here.length === 0)
    throw new CommandError(noServer, { hint: "Start one: store serve --request-log FILE" });
  const files = here.flatMap(({ requestLog }) => requestLog ?? []);
  if (files.length === 0) {
    throw new CommandError("The running server keeps no request log.", {
      hint: "Start it with a request log: store serve --request-log FILE",
    });
  }
  const paths = files.filter((file) => file !== "-");
  if (paths.length > 0) return paths;
  throw new CommandError("The server writes its request log to its standard output.", {
    hint: "Read it there, for example with journalctl, or start the server with --request-log FILE",
  });
}
