// A store, and a repository for its backups on an S3 service in this process.
import type { TestContext } from "node:test";
import type { RepositoryOptions } from "../../../src/repository/repository.ts";
import { parseS3Endpoint } from "../../../src/s3-client/url.ts";
import { type S3Service, startS3Service } from "../../support/s3-service.ts";
import { type Filled, fillStore, openPlaces, type Places } from "../backup/scene.ts";

export interface OffsiteScene extends Places {
  readonly service: S3Service;
  readonly filled: Filled;
  /** The repository of the prefix "store". */
  readonly to: RepositoryOptions;
}

export async function openOffsiteScene(t: TestContext): Promise<OffsiteScene> {
  const service = await startS3Service(t);
  const places = await openPlaces(t);
  const filled = await fillStore(places.data);
  return { ...places, service, filled, to: repositoryAt(service, "/store") };
}

export function repositoryAt(service: S3Service, prefix: string): RepositoryOptions {
  const endpoint = parseS3Endpoint(service.shelfUrl({ prefix }), (why) => new Error(why));
  return { endpoint };
}

/** Replaces the bytes of an object of the service. */
export async function changeObject(
  { service }: OffsiteScene,
  key: string,
  change: (bytes: Buffer) => Uint8Array,
): Promise<void> {
  const { engine, bucket } = service;
  const found = await engine.get(bucket, key);
  if (found.outcome !== "found") throw new Error(`there is no object ${key}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.bytes.chunks()) chunks.push(Buffer.from(chunk));
  await engine.put(bucket, key, change(Buffer.concat(chunks)));
}
