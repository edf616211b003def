// Tests the reference scripts and the examples in sandboxes.
import { testExamples } from "../examples.ts";
import { testReferenceScripts } from "../reference.ts";
import { sandboxTier } from "../tier.ts";

testReferenceScripts(sandboxTier);
testExamples(sandboxTier);
