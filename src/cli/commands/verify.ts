// `store verify`: reads all stored data and reports damage.
import type { VerifyReport } from "../../engine/maintenance/reports.ts";
import { StoreError } from "../../model/errors.ts";
import type { Command } from "../framework/command.ts";
import { formatCount, type Output } from "../framework/output.ts";
import { type Data, withData } from "../store/open-store.ts";
import { startProgress } from "../terminal/progress.ts";
import { formatTotals, formatVerdict } from "../transfer/report.ts";

export const verifyCommand: Command = {
  name: "verify",
  summary: "Read all stored data and report damage",
  details: "The exit code is 1 if anything is damaged. Servers can keep running.",
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
        [{ name: "DAMAGED" }, { name: "DETAIL" }],
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
  if (scrub === undefined)
    return "No background scrub has finished yet; store serve runs one every seven days.";
  const found = scrub.damages === 0 ? "no damage" : formatCount(scrub.damages, "damaged item");
  return `The last background scrub ended ${new Date(scrub.ended).toISOString()} and found ${found}.`;
}

function damagedName(bucket: string | undefined, key: string | undefined): string {
  if (bucket === undefined) return "(registry)";
  return key === undefined ? bucket : `${bucket}/${key}`;
}

async function verifyWithProgress({ engine }: Data, output: Output) {
  let total = 0;
  const emptyOnStoreError = (error: unknown) => {
    // Only the progress bar needs this list. The verification itself reports the error.
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
      // The bucket was deleted meanwhile, or is damaged. The verification reports damage.
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
