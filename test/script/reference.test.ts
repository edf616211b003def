// Tests the reference scripts in processes.
import { testReferenceScripts } from "./reference.ts";
import { processTier } from "./tier.ts";

testReferenceScripts(processTier);
