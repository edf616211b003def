// Runs a script in the real runtime, whose only way out is a proxy on a Unix socket.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { until } from "../../inside.ts";

/** Returns the path of the binary; undefined if the package is not installed. */
export function findRuntime(): string | undefined {
  try {
    const { default: path } = createRequire(import.meta.url)("workerd") as { default: unknown };
    return typeof path === "string" ? path : undefined;
  } catch {
    return undefined;
  }
}

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
  binary: string,
  { script, outbound }: { readonly script: string; readonly outbound: string },
): Promise<(path: string) => Promise<string>> {
  const folder = mkdtempSync(join(tmpdir(), "runtime-"));
  const main = join(folder, "main");
  writeFileSync(join(folder, "script.js"), script);
  const text = configuration.replace("OUTBOUND", outbound).replace("MAIN", main);
  writeFileSync(join(folder, "config.capnp"), text);
  const child: ChildProcess = spawn(binary, ["serve", join(folder, "config.capnp")], { stdio: "inherit" });
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(path: string): Promise<string> {
    const outgoing = request({ socketPath: main, path, agent: false });
    outgoing.end();
    const [incoming] = (await once(outgoing, "response")) as [AsyncIterable<Buffer>];
    let answer = "";
    for await (const chunk of incoming) answer += chunk.toString();
    return answer;
  }
  await until(
    () =>
      ask("/").then(
        () => true,
        () => false,
      ),
    "the runtime accepts requests",
  );
  return ask;
}
