// Starts a real workerd with a configuration, and stops it after the test.
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { temporaryDirectory } from "../stores.ts";

export interface WorkerdModule {
  readonly name: string;
  readonly kind: "esm" | "wasm" | "text" | "data";
  readonly contents: string | Uint8Array;
}

export interface WorkerdOptions {
  /** The main module first. */
  readonly modules: readonly WorkerdModule[];
  readonly format?: "module" | "service-worker";
  /** Bindings in the language of the configuration. */
  readonly bindings?: readonly string[];
  /** Socket paths of external services, by name. */
  readonly services?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

export interface Workerd {
  /** Port of the script on the loopback address. */
  readonly port: number;
}

const fieldByKind = { esm: "esModule", wasm: "wasm", text: "text", data: "data" } as const;

export async function startWorkerd(
  t: Pick<TestContext, "after">,
  { modules, format = "module", bindings = [], services = {}, flags = [] }: WorkerdOptions,
): Promise<Workerd> {
  const directory = await temporaryDirectory(t as TestContext);
  for (const { name, contents } of modules) await writeFile(join(directory, name), contents);
  const code =
    format === "service-worker"
      ? `serviceWorkerScript = embed ${quote(modules[0]!.name)}`
      : `modules = [${modules
          .map(({ name, kind }) => `(name = ${quote(name)}, ${fieldByKind[kind]} = embed ${quote(name)})`)
          .join(", ")}]`;
  const external = Object.entries(services).map(
    ([name, path]) => `(name = ${quote(name)}, external = (address = ${quote(`unix:${path}`)}, http = ()))`,
  );
  const config = join(directory, "config.capnp");
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      ${code},
      compatibilityDate = "2026-10-01",
      compatibilityFlags = [${flags.map(quote).join(", ")}],
      bindings = [${bindings.join(", ")}],
    )),
    ${external.map((service) => `${service},`).join("\n    ")}
  ],
  sockets = [(name = "main", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
  );
  const child = spawn(findWorkerd(), ["serve", config, "--control-fd=3"], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString();
    });
  }
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    void exited.then(() => reject(new Error(`workerd ended: ${output}`)));
    createInterface(child.stdio[3] as Readable).on("line", (line) => {
      const event = JSON.parse(line) as { event: string; socket: string; port: number };
      if (event.event === "listen" && event.socket === "main") resolve(event.port);
    });
  });
  return { port };
}

/** Throws if the package is not installed: without it, nothing here is tested. */
function findWorkerd(): string {
  try {
    return (createRequire(import.meta.url)("workerd") as { default: string }).default;
  } catch (cause) {
    throw new Error("workerd is not installed, so this is NOT TESTED: run `npm ci`.", { cause });
  }
}

function quote(text: string): string {
  return JSON.stringify(text);
}
