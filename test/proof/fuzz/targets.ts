// Lists all targets of the fuzzer.
import { bindingTargets } from "./binding.ts";
import { cliTargets } from "./cli.ts";
import { configTargets } from "./config.ts";
import { nameTargets } from "./names.ts";
import { recordTargets } from "./records.ts";
import { bodyTargets } from "./s3/bodies.ts";
import { documentTargets } from "./s3/documents.ts";
import { requestTargets } from "./s3/requests.ts";
import { signatureTargets } from "./s3/signatures.ts";
import type { Target } from "./target.ts";

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
