// Tests the examples in processes.
import { testExamples } from "./examples.ts";
import { processTier } from "./tier.ts";

testExamples(processTier);
