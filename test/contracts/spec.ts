// Runs the tests of every sentence of the spec on an implementation.
import { describe } from "node:test";
import type { Implementation } from "../support/stores.ts";
import { bodySentences } from "./spec/bodies.ts";
import { checksumSentences } from "./spec/checksums.ts";
import { compatibilitySentences } from "./spec/compatibility.ts";
import { conditionHeaderSentences } from "./spec/condition-headers.ts";
import { conditionSentences } from "./spec/conditions.ts";
import { errorSentences } from "./spec/errors.ts";
import { httpMetadataSentences } from "./spec/http-metadata.ts";
import { limitSentences } from "./spec/limits.ts";
import { listSentences } from "./spec/list.ts";
import { listGroupingSentences } from "./spec/list-grouping.ts";
import { methodSentences } from "./spec/methods.ts";
import { objectSentences } from "./spec/objects.ts";
import { rangeSentences } from "./spec/ranges.ts";
import { serviceSentences } from "./spec/service.ts";
import { ssecSentences } from "./spec/ssec.ts";
import { storageClassSentences } from "./spec/storage-class.ts";
import { lifeCycleSentences } from "./spec/upload-life-cycle.ts";
import { uploadSentences } from "./spec/uploads.ts";
import { valueSentences } from "./spec/values.ts";

export function specContract(implementation: Implementation): void {
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
