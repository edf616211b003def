// Runs a script in the real runtime, whose only way out is a proxy on a Unix socket.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryDirectory } from "../../../support/stores.ts";
import { getFromSocket, startWorkerd } from "../../../support/workerd/start-workerd.ts";

const configuration = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "script.js", esModule = embed "script.js")],
      compatibilityDate = "2026-10-01", globalOutbound = "outbound")),
    (name = "outbound", external = (address = "unix:OUTBOUND", http = (style = proxy))),
  ],
  sockets = [(name = "main", address = "unix:MAIN", http = (), service = "main")],
);
`;

/** Starts the runtime and returns a function that sends a path to the script. */
export async function runScript(
  t: TestContext,
  { script, outbound }: { readonly script: string; readonly outbound: string },
): Promise<(path: string) => Promise<string>> {
  const folder = await temporaryDirectory(t);
  const main = join(folder, "main");
  await writeFile(join(folder, "script.js"), script);
  const text = configuration.replace("OUTBOUND", outbound).replace("MAIN", main);
  await writeFile(join(folder, "config.capnp"), text);
  await startWorkerd(t, join(folder, "config.capnp"));
  return async (path) => (await getFromSocket(main, path)).text;
}
