// The operations of an engine that a bucket calls, with errors that show where the script called them.
import type { Engine } from "../engine/engine.ts";
import { withCallStack } from "./call-stack.ts";

export type BucketEngine = Pick<
  Engine,
  | "head"
  | "get"
  | "put"
  | "delete"
  | "list"
  | "createUpload"
  | "uploadPart"
  | "completeUpload"
  | "abortUpload"
>;

export function createBucketEngine(engine: Engine): BucketEngine {
  return {
    head: withCallStack(engine.head),
    get: withCallStack(engine.get),
    put: withCallStack(engine.put),
    delete: withCallStack(engine.delete),
    list: withCallStack(engine.list),
    createUpload: withCallStack(engine.createUpload),
    uploadPart: withCallStack(engine.uploadPart),
    completeUpload: withCallStack(engine.completeUpload),
    abortUpload: withCallStack(engine.abortUpload),
  };
}
