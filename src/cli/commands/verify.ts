// `store verify`: reads everything that is stored and tells what is damaged.
import type { VerifyReport } from "../../engine/engine.ts";
import { StoreError } from "../../model/errors.ts";
import type { Command } from "../framework/command.ts";
import { formatCount, type Output } from "../framework/output.ts";
import { type Data, withData } from "../store/open-store.ts";
import { startProgress } from "../terminal/progress.ts";
import { formatTotals, formatVerdict } from "../transfer/report.ts";

export const verifyCommand: Command = {
  name: "verify",
  summary: "Read everything that is stored and tell what is damaged",
  details: "Exit code 0 when all is well, 1 when something is damaged. A server may go on meanwhile.",
  usage: [""],
  options: {},
  examples: ["store verify", "store verify --json"],
  async run(invocation) {
    const { output } = invocation;
    const report = await withData(invocation, { absent: "refuse" }, (data) =>
      verifyWithProgress(data, output),
    );
    const { damages } = report;
    if (output.isJson) {
      const listed = damages.map(({ bucket, key, what }) => ({
        bucket: bucket ?? null,
        key: key ?? null,
        what,
      }));
      const { lastScrub } = report;
      const scrub =
        lastScrub === undefined ? null : { ...lastScrub, ended: new Date(lastScrub.ended).toISOString() };
      await output.json({ ...report, damages: listed, lastScrub: scrub });
    } else {
      await output.table(
        [{ name: "DAMAGED" }, { name: "WHAT" }],
        damages.map(({ bucket, key, what }) => [damagedName(bucket, key), what]),
      );
      const verdict = formatVerdict(damages.length, output);
      await output.line(`Read ${formatTotals(report, output)}. ${verdict}`);
      await output.line(scrubSentence(report.lastScrub));
    }
    return damages.length === 0 ? 0 : 1;
  },
};

function scrubSentence(scrub: VerifyReport["lastScrub"]): string {
  if (scrub === undefined) return "No background scrub has ended yet: store serve runs one every seven days.";
  const found = scrub.damages === 0 ? "nothing" : formatCount(scrub.damages, "damage");
  return `The last background scrub ended ${new Date(scrub.ended).toISOString()} and found ${found}.`;
}

function damagedName(bucket: string | undefined, key: string | undefined): string {
  if (bucket === undefined) return "(registry)";
  return key === undefined ? bucket : `${bucket}/${key}`;
}

async function verifyWithProgress({ engine }: Data, output: Output) {
  let total = 0;
  const emptyOnStoreError = (error: unknown) => {
    // Told of by the verification itself.
    if (error instanceof StoreError) return [];
    throw error;
  };
  const buckets = await engine.listBuckets().catch(emptyOnStoreError);
  const namespaces = await engine.kv.listNamespaces().catch(emptyOnStoreError);
  const measurements = [
    ...buckets.map(
      ({ name }) =>
        async () =>
          engine.totals(name),
    ),
    ...namespaces.map(
      ({ name }) =>
        async () =>
          engine.kv.totals(name),
    ),
  ];
  for (const measure of measurements) {
    try {
      total += (await measure()).bytes;
    } catch (error) {
      // A bucket that cannot be counted is told of by the verification, and one deleted meanwhile is none.
      if (!(error instanceof StoreError)) throw error;
    }
  }
  const progress = startProgress(output, { label: "verify", total });
  let seen = 0;
  const onProgress = ({ bytes }: { readonly bytes: number }) => {
    progress.advance(bytes - seen);
    seen = bytes;
  };
  try {
    return await engine.verify({ onProgress });
  } finally {
    progress.end();
  }
}
