// Runs the model proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { model } from "./model.ts";

test("a store on disk gives the same answers as an in-memory model, through the binding and the S3 API", async (t) => {
  await runQuickShare(t, model, 20_000);
});
