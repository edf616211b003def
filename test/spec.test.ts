// Holds every implementation to the sentences of the spec.
import { describe } from "node:test";
import { bodySentences } from "./contracts/spec/bodies.ts";
import { checksumSentences } from "./contracts/spec/checksums.ts";
import { compatibilitySentences } from "./contracts/spec/compatibility.ts";
import { conditionHeaderSentences } from "./contracts/spec/condition-headers.ts";
import { conditionSentences } from "./contracts/spec/conditions.ts";
import { errorSentences } from "./contracts/spec/errors.ts";
import { httpMetadataSentences } from "./contracts/spec/http-metadata.ts";
import { limitSentences } from "./contracts/spec/limits.ts";
import { listSentences } from "./contracts/spec/list.ts";
import { listGroupingSentences } from "./contracts/spec/list-grouping.ts";
import { methodSentences } from "./contracts/spec/methods.ts";
import { objectSentences } from "./contracts/spec/objects.ts";
import { rangeSentences } from "./contracts/spec/ranges.ts";
import { serviceSentences } from "./contracts/spec/service.ts";
import { ssecSentences } from "./contracts/spec/ssec.ts";
import { storageClassSentences } from "./contracts/spec/storage-class.ts";
import { lifeCycleSentences } from "./contracts/spec/upload-life-cycle.ts";
import { uploadSentences } from "./contracts/spec/uploads.ts";
import { valueSentences } from "./contracts/spec/values.ts";
import { implementations } from "./support/stores.ts";

for (const implementation of implementations) {
  describe(implementation.name, () => {
    serviceSentences(implementation);
    objectSentences(implementation);
    storageClassSentences(implementation);
    bodySentences(implementation);
    httpMetadataSentences(implementation);
    checksumSentences(implementation);
    rangeSentences(implementation);
    conditionSentences(implementation);
    conditionHeaderSentences(implementation);
    methodSentences(implementation);
    valueSentences(implementation);
    listSentences(implementation);
    listGroupingSentences(implementation);
    compatibilitySentences(implementation);
    uploadSentences(implementation);
    lifeCycleSentences(implementation);
    limitSentences(implementation);
    errorSentences(implementation);
    ssecSentences(implementation);
  });
}
