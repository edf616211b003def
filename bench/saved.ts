// Saves the results of a section as JSON, as a Markdown page and as a chart. Each file names the
// command and the machine.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Figures, markdownOf } from "./draw/markdown.ts";
import { number } from "./table.ts";

export interface Machine {
  readonly node: string;
  readonly system: string;
  readonly processors: string;
  readonly memoryMiB: number;
}

export interface Saved extends Figures {
  readonly command: string;
  readonly day: string;
  readonly machine: Machine;
}

export type Draw = (footer: readonly string[]) => string;

export function save(
  directory: string,
  report: Figures,
  { machine, draw }: { readonly machine: Machine; readonly draw: Draw | undefined },
): void {
  const { node, system, processors, memoryMiB } = machine;
  const where = { node, system, processors, memoryMiB };
  const saved: Saved = {
    ...{ command: commandOf(process.argv.slice(2)), day: today() },
    machine: where,
    ...report,
  };
  const footer = footerOf(saved);
  writeFileSync(join(directory, `${report.name}.json`), `${JSON.stringify(saved, null, 1)}\n`);
  writeFileSync(join(directory, `${report.name}.md`), markdownOf(saved, footer));
  if (draw !== undefined) writeFileSync(join(directory, `${report.name}.svg`), draw(footer));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Options with a path of this machine as value. They are omitted from the saved command. */
const places = ["--save", "--stores", "--dir", "--minio", "--versitygw", "--weed", "--garage"];

function commandOf(args: readonly string[]): string {
  const said = args.filter((arg, at) => ![arg, args[at - 1]].some((one) => places.includes(one ?? "")));
  return `npm run bench -- ${said.join(" ")}`;
}

export function footerOf({ command, day, machine }: Saved): string[] {
  const { node, processors, memoryMiB, system } = machine;
  return [command, `Node ${node}, ${processors}, ${number(memoryMiB)} MiB of memory, ${system}; ${day}`];
}
