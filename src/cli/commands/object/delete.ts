// `store object delete`: deletes an object, or removes one of its versions for good.
import { StoreError } from "../../../model/errors.ts";
import { isDeleteMarker, type Version } from "../../../model/version.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { escapeControls } from "../../framework/output.ts";
import { type ObjectAddress, objectAddress } from "../../store/object-address.ts";
import { addressText, requireObject, versionsCommand } from "../../store/version-options.ts";
import { withStore } from "../../store/with-store.ts";

export const deleteCommand: Command = {
  name: "delete",
  summary: "Delete an object, or one of its versions for good",
  details:
    "In a versioned bucket, the object is only hidden by a delete marker, and its versions are kept. With --version,\n" +
    "that version is removed for good; removing the newest delete marker makes the object visible again.",
  usage: ["<bucket>/<key>", "<bucket>/<key> --version ID [--bypass-governance]"],
  options: {
    version: { value: "ID", summary: "remove this version, as listed by store object versions" },
    "bypass-governance": {
      summary: "with --version: remove it although its governance retention has not ended",
    },
  },
  examples: [
    "store object delete photos/cat.jpg",
    "store object delete photos/cat.jpg --version 0123456789abcdef0123456789abcdef",
  ],
  async run(invocation) {
    const { parameters, options } = invocation;
    const address = objectAddress(parameters[0]!);
    const version = options.text("version");
    if (version === "") throw usageError("--version needs the id of a version.");
    if (version !== undefined) return deleteVersion(invocation, address, version);
    if (options.flag("bypass-governance"))
      throw usageError("--bypass-governance needs a version: --version ID");
    await deleteObject(invocation, address);
  },
};

async function deleteObject(invocation: Invocation, address: ObjectAddress): Promise<void> {
  const { output } = invocation;
  const { bucket, key } = address;
  const [marker] = await withStore(invocation, { absent: "refuse", subject: address }, async (data) => {
    // The engine deletes a missing key without an error, but a user should notice a typo.
    await requireObject(data.engine, address, {});
    const markers = await data.engine.delete(bucket, [key]);
    await data.tidy();
    return markers;
  });
  if (output.isJson) {
    const kept = marker === undefined ? {} : { deleteMarker: marker.version };
    return output.json({ bucket, key, deleted: true, ...kept });
  }
  await output.line(`Deleted ${output.name(`${bucket}/${key}`)}.`);
  if (marker !== undefined)
    output.note(`A delete marker hides it; earlier versions are kept: ${versionsCommand(address)}`);
}

async function deleteVersion(invocation: Invocation, address: ObjectAddress, id: string): Promise<void> {
  const { options, output } = invocation;
  const { bucket, key } = address;
  const subject = { ...address, version: id };
  const removed = await withStore(invocation, { absent: "refuse", subject }, async (data) => {
    const { engine, tidy } = data;
    const bypassGovernance = options.flag("bypass-governance");
    const targets = [{ key, version: id }];
    const [deletion] = await engine.deleteVersions(bucket, targets, { bypassGovernance });
    if (deletion === undefined || deletion.outcome === "missing") throw new StoreError("NoSuchVersion");
    if (deletion.outcome === "locked") {
      throw new CommandError(`The version "${escapeControls(id)}" was not deleted. ${deletion.message}`, {
        hint: `Show its lock: store object head ${addressText(address)} --version ${escapeControls(id)}`,
      });
    }
    if (bypassGovernance) await data.recordAudit("bypass retention", bucket, key);
    await tidy();
    return deletion.version;
  });
  if (output.isJson) {
    const isMarker = isDeleteMarker(removed);
    return output.json({ bucket, key, version: removed.version, isDeleteMarker: isMarker, deleted: true });
  }
  await output.line(`Deleted ${versionText(removed)} of ${output.name(`${bucket}/${key}`)}.`);
}

function versionText(version: Version): string {
  return `${isDeleteMarker(version) ? "delete marker" : "version"} ${version.version}`;
}
