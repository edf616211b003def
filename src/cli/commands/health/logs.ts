// `store logs`: prints the log lines of scripts, or the requests, of a running server.
import { type Fields, isCount, isFields, isList, isText } from "../../../model/shape.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { escapeControls, type Output } from "../../framework/output.ts";
import { parsePastTime, pastTimeRule } from "../../framework/time-argument.ts";
import type { ConsoleClient } from "../../health/console-client.ts";
import { readLines } from "../../health/follow-file.ts";
import { findRequestLogs, withConsoles } from "../../health/log-sources.ts";

export const logsCommand: Command = {
  name: "logs",
  summary: "Show the logs of scripts, or the requests, of a running server",
  details:
    "The server keeps the latest 2,000 lines of its scripts. Servers of this store are found by themselves. For\n" +
    "another server, name its profile, which has the URL and the token of its console; or give the URL, with the\n" +
    "token in STORE_CONSOLE_TOKEN. --requests reads the file of store serve --request-log on this machine.\n" +
    `Times: ${pastTimeRule}.`,
  usage: ["[script] [--follow] [--since TIME] [--requests]"],
  options: {
    follow: { summary: "wait for more until interrupted", short: "f" },
    since: { value: "TIME", summary: "only lines since this time, such as 10m" },
    requests: { summary: "the request log instead of the scripts' logs" },
    console: {
      value: "URL",
      summary: "console of the server; default: STORE_CONSOLE_URL, or servers of this store",
    },
  },
  examples: [
    "store logs --follow",
    "store logs thumbnails --since 10m --profile work",
    "store logs --requests --json",
  ],
  async run(invocation) {
    const { parameters, options } = invocation;
    const since = parseSince(options.text("since"));
    if (!options.flag("requests")) return printScripts(invocation, since);
    if (parameters.length > 0) throw usageError("--requests shows all requests and takes no script.");
    if (options.text("console") !== undefined) {
      throw usageError("--requests reads a file of this machine and takes no --console.");
    }
    return printRequests(invocation, since);
  },
};

function parseSince(text: string | undefined): number {
  return text === undefined ? 0 : parsePastTime("--since", text);
}

interface LogLine {
  readonly number: number;
  readonly time: number;
  readonly script: string;
  readonly stream: string;
  readonly text: string;
}

async function printScripts(invocation: Invocation, since: number): Promise<void> {
  const [script] = invocation.parameters;
  await withConsoles(invocation, async (consoles) => {
    if (script !== undefined) await requireScript(consoles, script);
    const print = (lines: readonly LogLine[]) => printLines(invocation, lines, { script, since });
    const positions = consoles.map(() => 0);
    const first = await Promise.all(
      consoles.map(async (console, i) => {
        const lines = await readLog(console, 0);
        positions[i] = lines.at(-1)?.number ?? 0;
        return lines;
      }),
    );
    await print(first.flat().sort((a, b) => a.time - b.time));
    if (!invocation.options.flag("follow")) return;
    await runInterruptible((signal) =>
      Promise.all(consoles.map((console, i) => follow(console, positions[i]!, print, signal))),
    );
  });
}

/** The console waits for the next line; without lines, it answers after some seconds. */
async function follow(
  console: ConsoleClient,
  position: number,
  print: (lines: readonly LogLine[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let last = position;
  while (!signal.aborted) {
    // Position 0 would not wait; -1 means the same position.
    const lines = await readLog(console, last === 0 ? -1 : last, signal);
    await print(lines);
    last = lines.at(-1)?.number ?? last;
  }
}

async function readLog(console: ConsoleClient, after: number, signal?: AbortSignal): Promise<LogLine[]> {
  const { lines } = await console.get(`/api/scripts/log?after=${after}`, signal);
  if (isList(lines, 100_000, isLogLine)) return [...lines];
  throw new CommandError("The server sent a log that this version does not understand.", {
    hint: "Use the same version of Store here and on the server.",
  });
}

function isLogLine(value: unknown): value is LogLine {
  return (
    isFields(value) &&
    [value.number, value.time].every(isCount) &&
    [value.script, value.stream, value.text].every((text) => isText(text, 100_000))
  );
}

async function requireScript(consoles: readonly ConsoleClient[], script: string): Promise<void> {
  const answers = await Promise.all(consoles.map((console) => console.get("/api/scripts")));
  const names = answers.flatMap(({ scripts }) =>
    isList(scripts, 10_000, isFields) ? scripts.map(({ name }: Fields) => String(name)) : [],
  );
  if (names.includes(script)) return;
  throw new CommandError(`No running server has a script "${script}".`, {
    hint: names.length === 0 ? "No script is running." : `Scripts: ${[...new Set(names)].join(", ")}`,
  });
}

async function printLines(
  { output }: Invocation,
  lines: readonly LogLine[],
  { script, since }: { readonly script: string | undefined; readonly since: number },
): Promise<void> {
  for (const line of lines) {
    if (line.time < since || (script !== undefined && line.script !== script)) continue;
    const time = new Date(line.time).toISOString();
    const { number: _, ...shown } = line;
    const text = output.isJson
      ? JSON.stringify({ ...shown, time })
      : [output.style.dim(output.time(line.time)), line.script, escapeControls(line.text)].join(
          separator(output),
        );
    await output.line(text);
  }
}

function separator({ isTerminal }: Output): string {
  return isTerminal ? "  " : "\t";
}

async function printRequests(invocation: Invocation, since: number): Promise<void> {
  const { options } = invocation;
  const follow = options.flag("follow");
  const files = await findRequestLogs(invocation);
  await runInterruptible((signal) =>
    Promise.all(
      files.map(async (file) => {
        for await (const line of readLines(file, { follow, signal })) {
          await printRequest(invocation, line, since);
        }
      }),
    ),
  );
}

async function printRequest({ output }: Invocation, line: string, since: number): Promise<void> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return;
  }
  if (!isFields(parsed)) return;
  const time = Date.parse(String(parsed.time));
  if (time < since) return;
  if (output.isJson) return output.line(line);
  const { face, method, operation, bucket, key, status, milliseconds, remoteAddress } = parsed;
  const object = key === undefined ? bucket : `${bucket}/${key}`;
  const words = [status, face, operation ?? method, object, `${milliseconds} ms`, remoteAddress];
  const text = words.filter((word) => word !== undefined).map((word) => escapeControls(String(word)));
  await output.line([output.style.dim(output.time(time)), ...text].join(separator(output)));
}
