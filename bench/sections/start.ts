// Section "start": the time from starting `store dev` to the first response of a script of 200
// TypeScript modules, compared with the start time of Node itself.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Context, compare, type Section } from "../section.ts";
import { end, firstDocument, type StartedStore, start as startProcess } from "../servers.ts";

const moduleCount = 200;
const maxMilliseconds = 2000;

export const start: Section = {
  name: "start",
  description: `store dev with ${moduleCount} TypeScript modules: time from the start to the first response`,
  run,
};

async function run(context: Context): Promise<void> {
  const { directory } = context;
  writeProject(directory);
  await compare(context, {
    what: "store dev, first response",
    unit: "ms",
    round: () => timeToFirstResponse(directory),
    limits: [{ name: "node -e 0", round: timeOfNode }],
    bar: { atMost: maxMilliseconds },
  });
  const [load] = loadavg();
  context.note(`Load average at the end: ${load!.toFixed(1)}.`);
}

/** Writes a script whose modules import each other and contain types to strip. */
function writeProject(directory: string): void {
  mkdirSync(join(directory, "src/modules"), { recursive: true });
  writeFileSync(
    join(directory, "store.toml"),
    `name = "start"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n`,
  );
  const names = Array.from({ length: moduleCount - 1 }, (_, index) => `module${index}`);
  for (const [index, name] of names.entries()) {
    writeFileSync(join(directory, `src/modules/${name}.ts`), moduleSource(name, names[index * 2 + 1]));
  }
  const imports = names.map((name) => `import { ${name} } from "./modules/${name}.ts";`);
  const body = `export default { fetch: () => new Response(String([${names.join(", ")}].map((one) => one.total()).length)) };`;
  writeFileSync(join(directory, "src/index.ts"), [...imports, body].join("\n"));
}

function moduleSource(name: string, imported: string | undefined): string {
  const methods = Array.from(
    { length: 20 },
    (_, index) => `  method${index}(value: Shape): number { return value.sides * ${index} + this.#count; }`,
  );
  return [
    imported === undefined ? "" : `import { ${imported} } from "./${imported}.ts";`,
    "export interface Shape { readonly sides: number; readonly name?: string }",
    "class Counter {",
    "  #count = 0;",
    ...methods,
    `  total(): number { return this.#count${imported === undefined ? "" : ` + ${imported}.total()`}; }`,
    "}",
    `export const ${name} = new Counter();`,
  ].join("\n");
}

async function timeToFirstResponse(directory: string): Promise<number> {
  const started: ChildProcess[] = [];
  const command = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  const data = join(directory, "data");
  const args = [
    command,
    "dev",
    "--config",
    join(directory, "store.toml"),
    "--data",
    data,
    ...ports,
    "--json",
  ];
  const began = performance.now();
  try {
    const { url } = JSON.parse(await firstDocument(startProcess(args, started))) as StartedStore;
    const response = await fetch(url);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`Cannot measure: ${response.status} ${text}`);
    return performance.now() - began;
  } finally {
    await Promise.all(started.map(end));
  }
}

async function timeOfNode(): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, ["-e", "0"]), "exit");
  return performance.now() - began;
}
