// The share of the model proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { model } from "./model.ts";

test("through the binding and the S3 API, a store on disk answers as the model does", async (t) => {
  await runQuickShare(t, model, 20_000);
});
