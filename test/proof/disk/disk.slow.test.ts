// The share of the disk's faults that every run of the tests injects.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { disk } from "./disk.ts";

test("a disk that fails or is full loses nothing, and is told in clear errors", (t) =>
  runQuickShare(t, disk, 40));
