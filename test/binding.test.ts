// Holds the binding to binding.md: every section's contract on every implementation.
import { describe } from "node:test";
import { argumentsContract } from "./contracts/binding/arguments.ts";
import { hostileArgumentsContract } from "./contracts/binding/arguments-hostile.ts";
import { metadataArgumentsContract } from "./contracts/binding/arguments-metadata.ts";
import { bodyContract } from "./contracts/binding/body.ts";
import { checksumsContract } from "./contracts/binding/checksums.ts";
import { conditionsContract } from "./contracts/binding/conditions.ts";
import { headerConditionsContract } from "./contracts/binding/conditions-headers.ts";
import { deleteContract } from "./contracts/binding/delete.ts";
import { errorTableContract } from "./contracts/binding/error-table.ts";
import { uploadErrorTableContract } from "./contracts/binding/error-table-uploads.ts";
import { writeErrorTableContract } from "./contracts/binding/error-table-writes.ts";
import { errorsContract } from "./contracts/binding/errors.ts";
import { getContract } from "./contracts/binding/get.ts";
import { keysContract } from "./contracts/binding/keys.ts";
import { listContract } from "./contracts/binding/list.ts";
import { delimiterContract, seekingContract } from "./contracts/binding/list-delimiter.ts";
import { multipartContract } from "./contracts/binding/multipart.ts";
import { objectSizeContract } from "./contracts/binding/object-size.ts";
import { putContract } from "./contracts/binding/put.ts";
import { rangesContract } from "./contracts/binding/ranges.ts";
import { readersContract } from "./contracts/binding/readers.ts";
import { reasonTableContract } from "./contracts/binding/reason-table.ts";
import { sharingStores } from "./contracts/binding/shared-stores.ts";
import { ssecContract } from "./contracts/binding/ssec.ts";
import { uploadsContract } from "./contracts/binding/uploads.ts";
import { implementations } from "./support/stores.ts";

reasonTableContract();
seekingContract();
objectSizeContract();

for (const each of implementations) {
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
