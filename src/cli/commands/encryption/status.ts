// `store encryption status`: how many objects are encrypted, and with which master keys.
import type { EncryptionStatus } from "../../../engine/encryption-operations.ts";
import type { Command } from "../../framework/command.ts";
import type { Output } from "../../framework/output.ts";
import { withData } from "../../store/open-store.ts";

export const statusCommand: Command = {
  name: "status",
  summary: "Count objects by their encryption, and list the master keys",
  details: "Counts every version of every object and every open upload, in all buckets and namespaces.",
  usage: [""],
  options: {},
  examples: ["store encryption status", "store encryption status --json"],
  async run(invocation) {
    const { output } = invocation;
    const { status, mode } = await withData(invocation, { absent: "refuse" }, async ({ engine }) => ({
      status: await engine.encryption.status(),
      mode: engine.encryption.mode,
    }));
    if (output.isJson) return output.json(toJson(status, mode));
    const { withStoreKey, withCustomerKey, unencrypted } = status;
    await output.fields([
      ["new objects", mode === "always" ? "always encrypted" : "as buckets and requests ask"],
      ["with a key of the store", String(withStoreKey)],
      ["with a customer key", String(withCustomerKey)],
      ["not encrypted", String(unencrypted)],
    ]);
    await printKeys(output, status);
    if (status.rotation !== undefined)
      output.note("A rotation is not finished. Continue it: store encryption rotate");
  },
};

async function printKeys(output: Output, { masterKeys, byMasterKey }: EncryptionStatus): Promise<void> {
  if (masterKeys.length === 0) return output.note("There is no master key yet: nothing was encrypted.");
  await output.line("");
  await output.table(
    [{ name: "MASTER KEY" }, { name: "CREATED" }, { name: "STATE" }, { name: "OBJECTS" }],
    masterKeys.map(({ id, created, retired }, i) => [
      id,
      output.time(created),
      i === masterKeys.length - 1 ? "current" : retired === undefined ? "being replaced" : "retired",
      String(byMasterKey.get(id) ?? 0),
    ]),
  );
}

function toJson(status: EncryptionStatus, mode: "always" | undefined) {
  const { masterKeys, byMasterKey, rotation, ...counts } = status;
  return {
    mode: mode ?? "requested",
    ...counts,
    masterKeys: masterKeys.map(({ id, created, retired }, i) => ({
      id,
      created: new Date(created).toISOString(),
      retired: retired === undefined ? null : new Date(retired).toISOString(),
      isCurrent: i === masterKeys.length - 1,
      objects: byMasterKey.get(id) ?? 0,
    })),
    rotation: rotation === undefined ? null : { to: rotation.to, rewrapped: rotation.rewrapped },
  };
}
