// The share of the cut off uploads that every run of the tests makes.
import { test } from "node:test";
import { leaks } from "./leaks.ts";
import { runQuickShare } from "./proof.ts";

test("uploads cut off in the middle leave nothing behind", (t) => runQuickShare(t, leaks, 400));
