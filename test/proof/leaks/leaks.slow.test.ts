// The share of the cut off uploads that every run of the tests makes.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { leaks } from "./leaks.ts";

test("uploads cut off in the middle leave nothing behind", (t) => runQuickShare(t, leaks, 400));
