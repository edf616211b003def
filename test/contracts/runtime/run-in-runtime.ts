// Runs a suite inside plain workerd: bundles it, writes the configuration and starts the runtime
// with endpoints of this process on Unix sockets.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { build } from "esbuild";
import { type ListenOptions, listen } from "../../../src/http/server/listen.ts";
import { root } from "../../cli/store.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { startWorkerd } from "../../support/workerd/start-workerd.ts";
import { type CreateEndpoint, createControl, slotHeader } from "./control.ts";
import type { Outcome } from "./suite/node-test.ts";

const folder = join(root, "test/contracts/runtime/suite");

export interface RuntimeSuite {
  /** File of the suite in suite/, which exports `run`. */
  readonly file: string;
  /** Number of buckets and namespaces that the suite may create. */
  readonly slots: { readonly bucket: number; readonly kv: number };
  readonly createEndpoint: CreateEndpoint;
  readonly listenOptions: ListenOptions;
}

/** Runs the suite and returns the outcome of each test. */
export async function runInRuntime(t: TestContext, suite: RuntimeSuite): Promise<Outcome[]> {
  const directory = await temporaryDirectory(t);
  const control = createControl(suite.createEndpoint);
  const path = (name: string) => join(directory, name);
  const listeners = [
    await listen(control.calls, { path: path("control") }, { peer: "client" }),
    await listen(control.endpoints, { path: path("endpoints") }, suite.listenOptions),
  ];
  await bundle(suite.file, path("suite.js"));
  await writeFile(path("config.capnp"), configuration(directory, suite));
  await startWorkerd(t, path("config.capnp"), "--experimental");
  t.after(async () => {
    await Promise.all(listeners.map((listener) => listener.drain()));
    await control.close();
  });
  return readOutcomes(path("main"));
}

async function readOutcomes(socketPath: string): Promise<Outcome[]> {
  const outgoing = request({ socketPath, path: "/" });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [NodeJS.ReadableStream];
  const outcomes: Outcome[] = [];
  for await (const line of createInterface({ input: incoming })) outcomes.push(JSON.parse(line) as Outcome);
  return outcomes;
}

async function bundle(file: string, outfile: string): Promise<void> {
  await build({
    stdin: {
      contents: `import { run } from "./${file}"; export default { fetch: run };`,
      resolveDir: folder,
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    target: "es2022",
    external: ["node:*", "@node-rs/crc32"],
    outfile,
    logLevel: "error",
    plugins: [
      {
        name: "suite",
        setup({ onResolve }) {
          onResolve({ filter: /^node:test$|\/mock-timeouts\.ts$/ }, () => ({
            path: join(folder, "node-test.ts"),
          }));
          onResolve({ filter: /\/src\/index\.ts$/ }, () => ({ path: join(folder, "store-index.ts") }));
        },
      },
    ],
  });
}

const bindingTypes = { bucket: "r2Bucket", kv: "kvNamespace" } as const;

function configuration(directory: string, { slots }: RuntimeSuite): string {
  const external = (name: string, socket: string, http: string) =>
    `(name = "${name}", external = (address = "unix:${join(directory, socket)}", http = (${http}))),`;
  const services: string[] = [];
  const bindings: string[] = [];
  for (const kind of ["bucket", "kv"] as const) {
    for (let slot = 0; slot < slots[kind]; slot++) {
      const name = `${kind}-${slot}`;
      const header = `injectRequestHeaders = [(name = "${slotHeader}", value = "${name}")]`;
      services.push(external(name, "endpoints", header));
      bindings.push(`(name = "${kind.toUpperCase()}_${slot}", ${bindingTypes[kind]} = "${name}"),`);
    }
  }
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "suite.js", esModule = embed "suite.js")],
      compatibilityDate = "2026-10-01",
      globalOutbound = "none",
      bindings = [(name = "CONTROL", service = "control"),
        ${bindings.join("\n        ")}
      ],
    )),
    (name = "none", network = (allow = [])),
    ${external("control", "control", "")}
    ${services.join("\n    ")}
  ],
  sockets = [(name = "main", address = "unix:${join(directory, "main")}", http = (), service = "main")],
);
`;
}
