// Runs the load generator in a process of its own and returns its report.
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { S3Server } from "../peers/s3-server.ts";
import { end, firstDocument, start } from "../servers.ts";
import type { LoadReport, LoadSpec } from "./generator.ts";
import { changedKey, keptKey, keyCount, type Paths } from "./mix.ts";

export interface LoadTarget extends Pick<LoadSpec, "port" | "host" | "isSecure"> {
  readonly name: string;
  readonly paths: Paths;
}

export type LoadForm = Pick<LoadSpec, "connections" | "isKept" | "rate" | "seconds" | "work">;

/** Paths are signed once for the run: signing each would cost the generator too much. */
export function loadTarget(server: S3Server, isSecure = false): LoadTarget {
  const indexes = Array.from({ length: keyCount }, (_, index) => index);
  const listing = (index: number): [string, string][] => [
    ["list-type", "2"],
    ["max-keys", "100"],
    ["prefix", keptKey(index % 10)],
  ];
  const paths: Paths = {
    GET: indexes.map((index) => server.path("GET", keptKey(index))),
    PUT: indexes.map((index) => server.path("PUT", changedKey(index))),
    DELETE: indexes.map((index) => server.path("DELETE", changedKey(index))),
    LIST: indexes.slice(0, 10).map((index) => server.path("GET", undefined, listing(index))),
  };
  return { name: server.name, port: server.port, host: `127.0.0.1:${server.port}`, isSecure, paths };
}

/** Puts the keys that GET reads. */
export async function fill(target: LoadTarget, server: S3Server, directory: string): Promise<void> {
  const kept = Array.from({ length: keyCount }, (_, index) => server.path("PUT", keptKey(index)));
  const paths = { ...target.paths, PUT: kept };
  const form: LoadForm = { connections: 16, isKept: true, seconds: 1, work: "fill" };
  const report = await runLoad({ ...target, paths }, form, directory);
  if (report.failed > 0 || report.unfinished > 0) {
    throw new Error(
      `Cannot measure: ${target.name} did not take ${report.failed + report.unfinished} objects`,
    );
  }
}

export async function runLoad(target: LoadTarget, form: LoadForm, directory: string): Promise<LoadReport> {
  const file = join(directory, "load.json");
  writeFileSync(file, JSON.stringify({ ...target, ...form } satisfies LoadSpec));
  const started: ChildProcess[] = [];
  const program = fileURLToPath(new URL("./generator.js", import.meta.url));
  try {
    const text = await firstDocument(start([program, file], started));
    // JSON has no NaN, the quantile of too few requests.
    return JSON.parse(text, (_name, value) => (value === null ? Number.NaN : value)) as LoadReport;
  } finally {
    await Promise.all(started.map(end));
  }
}
