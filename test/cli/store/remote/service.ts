// Store's own S3 API in this process, opened as a store of the command line.
import type { TestContext } from "node:test";
import type { ObjectStore } from "../../../../src/cli/store/object-store.ts";
import { openRemoteStore } from "../../../../src/cli/store/remote/open-remote.ts";
import type { Engine } from "../../../../src/engine/engine.ts";
import { parseS3Endpoint } from "../../../../src/s3-client/url.ts";
import { startS3Service } from "../../../support/s3-service.ts";

export interface Service {
  readonly engine: Engine;
  readonly store: ObjectStore;
  readonly bucket: string;
  readonly port: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export async function openService(t: TestContext): Promise<Service> {
  const { engine, bucket, port, shelfUrl } = await startS3Service(t);
  const endpoint = parseS3Endpoint(shelfUrl(), (why) => new Error(why));
  const { store, close } = openRemoteStore(endpoint);
  t.after(close);
  const { accessKeyId, secretAccessKey } = endpoint;
  return { engine, store, bucket, port, accessKeyId, secretAccessKey };
}
