// The sandboxes of a server: one bridge for all of them, and one check of the wall.
import type { Metrics } from "../../metrics/metrics.ts";
import type { HostProcess, ScriptLoad } from "../host/host-process.ts";
import { createBridge } from "../sandbox/bridge-handle.ts";
import type { ServeService } from "../sandbox/open-services.ts";
import { createSandbox } from "../sandbox/sandbox-process.ts";
import { createWalls } from "../sandbox/walls.ts";
import type { HostOptions } from "./processes/worker-handle.ts";

export interface SandboxSettings {
  /** Heap limit of a sandboxed script. Default: 128. */
  readonly heapMegabytes?: number | undefined;
  /** Start sandboxed scripts also where the wall cannot be built. Default: false. */
  readonly allowsUnwalled?: boolean | undefined;
}

export interface SandboxesOptions
  extends Pick<HostOptions, "environment" | "watch" | "log" | "onOutput" | "limits">,
    Pick<ScriptLoad, "location" | "mode" | "encryption"> {
  readonly openUploads?: number | undefined;
  readonly sandbox?: SandboxSettings | undefined;
  readonly serveService: ServeService;
  readonly onRun: (script: string, handler: string, outcome: "done" | "failed") => void;
}

export interface Sandboxes {
  create(script: string): Promise<HostProcess>;
  close(): Promise<void>;
}

const defaultHeapMegabytes = 128;
/** Resident memory beyond the heap: the runtime itself, buffers and compiled code. */
const extraMegabytes = 128;

export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { environment, watch, log, onOutput, location, mode, encryption, openUploads, onRun } = options;
  const { heapMegabytes = defaultHeapMegabytes, allowsUnwalled = false } = options.sandbox ?? {};
  const bridge = createBridge({
    ...{ location, mode, openUploads, encryption, environment, watch, log },
    descriptors: options.limits.descriptors,
    onScriptLine: (script, line) => onOutput(script, line, "stderr"),
  });
  const findWall = createWalls({ environment, allowsUnwalled, log });
  const memory = { heapMegabytes, residentMegabytes: heapMegabytes + extraMegabytes };
  return {
    create: (script) =>
      createSandbox(script, {
        bridge,
        findWall,
        memory,
        onOutput,
        onRun,
        log,
        serveService: options.serveService,
      }),
    close: bridge.close,
  };
}

/** Counts runs of handlers other than fetch, as processes do for their scripts. */
export function countRuns(metrics: Metrics | undefined): SandboxesOptions["onRun"] {
  const runs = metrics?.counter({
    name: "store_script_runs_total",
    help: "Runs of a script's handlers other than fetch.",
    labels: ["script", "handler", "outcome"],
  });
  return (script, handler, outcome) => runs?.(script, handler, outcome).add(1);
}
