// Every target of the fuzzer.
import { bindingTargets } from "./fuzz-binding.ts";
import { cliTargets } from "./fuzz-cli.ts";
import { configTargets } from "./fuzz-config.ts";
import { nameTargets } from "./fuzz-names.ts";
import { recordTargets } from "./fuzz-records.ts";
import { bodyTargets } from "./fuzz-s3-bodies.ts";
import { documentTargets } from "./fuzz-s3-documents.ts";
import { requestTargets } from "./fuzz-s3-requests.ts";
import { signatureTargets } from "./fuzz-s3-signatures.ts";
import type { Target } from "./fuzz-target.ts";

export const targets: readonly Target[] = [
  ...configTargets,
  ...bindingTargets,
  ...bodyTargets,
  ...documentTargets,
  ...requestTargets,
  ...signatureTargets,
  ...recordTargets,
  ...cliTargets,
  ...nameTargets,
];
