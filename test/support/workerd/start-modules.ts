// Starts a real workerd with the modules of a script, and stops it after the test.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryDirectory } from "../stores.ts";
import { startWorkerd } from "./start-workerd.ts";

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

export async function startModules(
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
  return { port: await startWorkerd(t, config) };
}

function quote(text: string): string {
  return JSON.stringify(text);
}
