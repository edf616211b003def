// Runs all contracts of binding.md on an implementation.
import { describe } from "node:test";
import type { Implementation } from "../support/stores.ts";
import { argumentsContract } from "./binding/arguments/arguments.ts";
import { hostileArgumentsContract } from "./binding/arguments/hostile.ts";
import { metadataArgumentsContract } from "./binding/arguments/metadata.ts";
import { bodyContract } from "./binding/body.ts";
import { checksumsContract } from "./binding/checksums.ts";
import { conditionsContract } from "./binding/conditions.ts";
import { headerConditionsContract } from "./binding/conditions-headers.ts";
import { deleteContract } from "./binding/delete.ts";
import { errorTableContract } from "./binding/errors/error-table.ts";
import { uploadErrorTableContract } from "./binding/errors/error-table-uploads.ts";
import { writeErrorTableContract } from "./binding/errors/error-table-writes.ts";
import { errorsContract } from "./binding/errors/errors.ts";
import { getContract } from "./binding/get.ts";
import { keysContract } from "./binding/keys.ts";
import { listContract } from "./binding/list.ts";
import { delimiterContract } from "./binding/list-delimiter.ts";
import { multipartContract } from "./binding/multipart.ts";
import { putContract } from "./binding/put.ts";
import { rangesContract } from "./binding/ranges.ts";
import { readersContract } from "./binding/readers.ts";
import { sharingStores } from "./binding/shared-stores.ts";
import { ssecContract } from "./binding/ssec.ts";
import { uploadsContract } from "./binding/uploads.ts";

export function bindingContract(each: Implementation): void {
  describe(each.name, () => {
    const implementation = sharingStores(each);
    errorsContract(implementation);
    errorTableContract(implementation);
    writeErrorTableContract(implementation);
    uploadErrorTableContract(implementation);
    argumentsContract(implementation);
    hostileArgumentsContract(implementation);
    metadataArgumentsContract(implementation);
    keysContract(implementation);
    getContract(implementation);
    rangesContract(implementation);
    conditionsContract(implementation);
    headerConditionsContract(implementation);
    bodyContract(implementation);
    readersContract(implementation);
    ssecContract(implementation);
    putContract(implementation);
    checksumsContract(implementation);
    listContract(implementation);
    delimiterContract(implementation);
    multipartContract(implementation);
    uploadsContract(implementation);
    deleteContract(implementation);
  });
}
