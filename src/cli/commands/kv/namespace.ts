// `store kv namespace …`: creates, lists and deletes key-value namespaces.
import type { KeyValues, NamespaceRecord } from "../../../engine/key-value/key-value.ts";
import { StoreError } from "../../../model/errors.ts";
import { isNamespaceName } from "../../../model/key-value.ts";
import { findVerb } from "../../framework/arguments.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { withCommandErrors } from "../../framework/failures.ts";
import { formatCount } from "../../framework/output.ts";
import { withData } from "../../store/open-store.ts";
import { ask } from "../../terminal/prompt.ts";

export const kvNamespaceCommand: Command = {
  name: "namespace",
  summary: "Create, list and delete namespaces",
  details: "A namespace with keys is only deleted with --force, which deletes its keys first.",
  usage: ["create <name>", "list", "delete <name> [--force] [--yes]"],
  options: {
    force: { summary: "with delete: delete all keys first; asks for confirmation on a terminal" },
    yes: { summary: "with --force: do not ask for confirmation" },
  },
  examples: [
    "store kv namespace create sessions",
    "store kv namespace list",
    "store kv namespace delete sessions --force",
  ],
  async run(invocation) {
    const [verb = "", name, extra] = invocation.parameters;
    const run = findVerb(verbs, "kv namespace", verb);
    const unexpected = verb === "list" ? name : extra;
    if (unexpected !== undefined)
      throw usageError(`store kv namespace ${verb} does not expect "${unexpected}".`);
    if (verb !== "list" && name === undefined) throw usageError(`store kv namespace ${verb} needs a name.`);
    for (const flag of ["force", "yes"]) {
      if (verb !== "delete" && invocation.options.flag(flag))
        throw usageError(`store kv namespace ${verb} has no option --${flag}.`);
    }
    await run(invocation, name ?? "");
  },
};

const verbs = { create, list, delete: remove };

async function create(invocation: Invocation, namespace: string): Promise<void> {
  const { output } = invocation;
  // Check the name first, so that an invalid name does not create a data directory.
  withCommandErrors({ namespace }, () => {
    if (!isNamespaceName(namespace)) throw new StoreError("InvalidBucketName");
  });
  const record = await withData(invocation, { absent: "create", subject: { namespace } }, async (data) => {
    const made = await data.engine.kv.createNamespace(namespace);
    await data.recordAudit("create namespace", namespace);
    return made;
  });
  if (output.isJson) await output.json(namespaceJson(record));
  else await output.line(`Created namespace ${output.style.bold(namespace)}.`);
}

async function list(invocation: Invocation): Promise<void> {
  const { output } = invocation;
  const namespaces = await withData(invocation, { absent: "refuse" }, ({ engine }) =>
    engine.kv.listNamespaces(),
  );
  if (output.isJson) return output.json(namespaces.map(namespaceJson));
  if (namespaces.length === 0)
    output.note("There are no namespaces yet. Create one: store kv namespace create <name>");
  await output.table(
    [{ name: "NAME" }, { name: "CREATED" }],
    namespaces.map(({ name, created }) => [name, output.time(created)]),
  );
}

async function remove(invocation: Invocation, namespace: string): Promise<void> {
  const { options, output } = invocation;
  const removed = await withData(invocation, { absent: "refuse", subject: { namespace } }, async (data) => {
    const { kv } = data.engine;
    const withKeys = options.flag("force");
    if (withKeys && !options.flag("yes")) await confirm(invocation, kv, namespace);
    const count = withKeys ? await deleteWithKeys(kv, namespace) : 0;
    if (!withKeys) await kv.deleteNamespace(namespace);
    await data.recordAudit("delete namespace", namespace);
    return count;
  });
  if (output.isJson) return output.json({ name: namespace, deleted: true, keys: removed });
  const what = removed > 0 ? ` and ${formatCount(removed, "key")} in it` : "";
  await output.line(`Deleted namespace ${output.style.bold(namespace)}${what}.`);
}

function namespaceJson({ name, created }: NamespaceRecord) {
  return { name, created: new Date(created).toISOString() };
}

/** Asks for confirmation only on a terminal; in a script, --force is the confirmation. */
async function confirm({ output }: Invocation, kv: KeyValues, namespace: string): Promise<void> {
  const { objects, bytes } = await kv.totals(namespace);
  if (objects === 0 || !process.stdin.isTTY) return;
  output.note(`This permanently deletes ${formatCount(objects, "key")} (${output.size(bytes)}).`);
  const typed = await ask(process.stdin, output, "Type the name of the namespace to delete it: ");
  if (typed !== namespace) throw new CommandError("The name does not match; nothing was deleted.");
}

/** Maximum number of attempts to empty a namespace while other processes write to it. */
const maxRounds = 10;

async function deleteWithKeys(kv: KeyValues, namespace: string): Promise<number> {
  let removed = 0;
  for (let round = 1; ; round++) {
    removed += await deleteAllKeys(kv, namespace);
    try {
      await kv.deleteNamespace(namespace);
      return removed;
    } catch (error) {
      if (!(error instanceof StoreError && error.reason === "BucketNotEmpty")) throw error;
      if (round < maxRounds) continue;
      throw new CommandError(`Keys are put into the namespace "${namespace}" faster than they are deleted.`, {
        hint: "Stop all writers, then try again.",
        cause: error,
      });
    }
  }
}

async function deleteAllKeys(kv: KeyValues, namespace: string): Promise<number> {
  let removed = 0;
  let cursor: string | undefined;
  do {
    const page = await kv.list(namespace, { cursor });
    const names = page.keys.map(({ name }) => name);
    if (names.length > 0) await kv.delete(namespace, names);
    removed += names.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return removed;
}
