// Checks the table `triggers`: the times at which the scheduled handler runs.
import { parseCron, type Sunday } from "./cron.ts";
import { checkStrings, createParseCheck } from "./rules.ts";
import type { Fields, Table } from "./syntax/fields.ts";

export interface Triggers {
  readonly crons: readonly string[];
  /** The number that means Sunday in `crons`. */
  readonly sunday: Sunday;
  /** Notes about skipped expressions, to print at startup. */
  readonly notes: readonly string[];
}

export interface TriggerOptions {
  /** Whether an invalid expression is skipped with a note instead of being reported as an error. */
  readonly isLenient: boolean;
}

export function checkTriggers(fields: Fields, top: Table, { isLenient }: TriggerOptions): Triggers {
  const { source, line } = fields;
  const cronsLine = line("crons", ["*/5 * * * *"]);
  const example =
    source.format === "toml" ? `\n    [triggers]\n    ${cronsLine}` : `"triggers": { ${cronsLine} }`;
  const triggers = fields.table(["triggers"], top.triggers, example);
  // Sunday is 1 in wrangler files and 0 in crontab.
  const sunday = source.kind === "wrangler" ? 1 : 0;
  const parse = (text: string) => parseCron(text, sunday);
  const check = createParseCheck(fields, parse, 'For example, every five minutes: "*/5 * * * *"');
  const leftOut: string[] = [];
  const crons = checkStrings(fields, ["triggers", "crons"], triggers?.crons, cronsLine, (text, element) => {
    if (isLenient && !parses(text, parse)) leftOut.push(text);
    else check(text, element);
  });
  const names = leftOut.map((text) => JSON.stringify(text)).join(", ");
  return {
    crons: crons.filter((cron) => !leftOut.includes(cron)),
    sunday,
    notes: leftOut.length === 0 ? [] : [`These schedules are not supported and are left out: ${names}.`],
  };
}

function parses(text: string, parse: (text: string) => unknown): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
