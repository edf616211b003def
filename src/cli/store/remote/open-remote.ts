// Opens an S3 service as a store.
import { encodePath, encodeText, presign } from "../../../http/sigv4.ts";
import { formatHost } from "../../../s3-client/client.ts";
import type { ObjectStore } from "../object-store.ts";
import { createRemoteBuckets } from "./buckets.ts";
import { createRemoteClient, type RemoteEndpoint } from "./client.ts";
import { createCopy } from "./copy.ts";
import { createRemoteObjects } from "./objects.ts";
import { createRemoteVersions, createVersionFinder } from "./versions.ts";

export interface RemoteStore {
  readonly store: ObjectStore;
  close(): void;
}

export function openRemoteStore(endpoint: RemoteEndpoint): RemoteStore {
  const host = formatHost(endpoint);
  const client = createRemoteClient(endpoint, host);
  const versions = createRemoteVersions(client, (bucket, key, version) =>
    objects.head(bucket, key, { version }),
  );
  const objects = createRemoteObjects(client, createVersionFinder(versions));
  const buckets = createRemoteBuckets(client, { ...objects, ...versions });
  const store: ObjectStore = {
    ...objects,
    ...versions,
    ...buckets,
    service: {
      copy: createCopy(client, ({ bucket, key }) => objects.head(bucket, key)),
      presign({ bucket, key }, { method, expiresInSeconds }) {
        const { sessionToken } = endpoint;
        const query = sessionToken === undefined ? [] : ([["X-Amz-Security-Token", sessionToken]] as const);
        const path = `/${encodeText(bucket)}/${encodePath(key)}`;
        const origin = `${endpoint.tls ? "https" : "http"}://${host}`;
        const request = { method, path, query, time: Date.now(), expiresInSeconds };
        return presign({ ...endpoint, ...request, endpoint: origin });
      },
    },
  };
  return { store, close: () => client.close() };
}
