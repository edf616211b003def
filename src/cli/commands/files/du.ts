// `store du`: counts the objects and bytes below a prefix, also for each folder.
import type { Command, Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import { parseWholeNumber } from "../../framework/size-argument.ts";
import { filterOptions, parseFilter } from "../../store/glob.ts";
import { type ObjectSide, withStores } from "../../store/stores.ts";
import { startProgress } from "../../terminal/progress.ts";
import { findSources } from "../../transfer/files/sources.ts";

/** Folders that are counted separately; more would not be readable. */
const maxFolders = 100_000;

export const duCommand: Command = {
  name: "du",
  summary: "Show the number and size of the objects below a prefix",
  details:
    "Counts current objects. With --depth, each folder down to that depth is shown too, like du of Unix.",
  usage: ["<bucket>[/prefix] [--depth N]"],
  options: {
    depth: { value: "N", summary: "also show folders, down to this many levels; default: 0" },
    ...filterOptions,
  },
  examples: ["store du photos", "store du photos/2026/ --depth 1", "store du photos --include '*.raw'"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [text = ""] = parameters;
    const depth = parseWholeNumber("--depth", options.text("depth") ?? "0");
    const usage = await withStores(invocation, async (stores) => {
      const side = await stores.resolve(/^[^./].*:|^s3:/.test(text) ? text : `s3://${text}`, "existing");
      if (side.kind !== "object" || side.bucket === "")
        throw usageError(`"${text}" is not a bucket or a prefix.`, "For example: photos/2026/");
      return count(invocation, side, depth).catch((error: unknown) => {
        throw toCommandError(error, { bucket: side.bucket });
      });
    });
    const rows = [...usage].map(([name, { bytes, objects }]) => ({
      name: `${text.replace(/\/$/, "")}/${name}`,
      bytes,
      objects,
    }));
    if (output.isJson) return output.json(rows);
    await output.table(
      [{ name: "SIZE", align: "right" }, { name: "OBJECTS", align: "right" }, { name: "NAME" }],
      rows.map(({ name, bytes, objects }) => [output.bytes(bytes), String(objects), name]),
    );
  },
};

interface Usage {
  bytes: number;
  objects: number;
}

/** Returns the folders in key order, and the total last, under the empty name. */
async function count(
  { options, output, directory }: Invocation,
  side: ObjectSide,
  depth: number,
): Promise<ReadonlyMap<string, Usage>> {
  const filter = parseFilter(options);
  const total: Usage = { bytes: 0, objects: 0 };
  const folders = new Map<string, Usage>();
  const progress = startProgress(output, { label: () => `${total.objects} objects`, shows: "label" });
  try {
    const { items } = await findSources(side, { isRecursive: true, filter, except: undefined, directory });
    for await (const item of items) {
      if (item.kind !== "object") continue;
      const parts = item.name.split("/").slice(0, -1);
      const names = parts.slice(0, depth).map((_, i) => `${parts.slice(0, i + 1).join("/")}/`);
      for (const name of names) add(folders, name, item.record.size);
      total.bytes += item.record.size;
      total.objects++;
    }
  } finally {
    progress.end();
  }
  return new Map([...folders, ["", total]]);
}

function add(folders: Map<string, Usage>, name: string, size: number): void {
  const usage = folders.get(name) ?? { bytes: 0, objects: 0 };
  if (!folders.has(name)) {
    if (folders.size >= maxFolders)
      throw usageError(`There are more than ${maxFolders} folders: use a smaller --depth.`);
    folders.set(name, usage);
  }
  usage.bytes += size;
  usage.objects++;
}
