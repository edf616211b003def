// Section "s3": the S3 API of `store serve` compared with s3rver, a bare node:http server and MD5.
// Every request is signed, and Store verifies the signature.
import type { ChildProcess } from "node:child_process";
import { startBareSigned } from "../peers/bare-signed.ts";
import { largeRows, smallRows } from "../peers/s3-rows.ts";
import { startS3Store } from "../peers/s3-store.ts";
import { s3rverBars, startS3rver } from "../peers/s3rver.ts";
import type { Context, Section } from "../section.ts";
import { end } from "../servers.ts";

export const s3: Section = {
  name: "s3",
  description: "the S3 API compared with s3rver, a bare node:http server and md5; every request is signed",
  run,
};

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  try {
    const store = await startS3Store(context.directory, started);
    const s3rver = await startS3rver(context, started);
    const peers = s3rver === undefined ? [] : [{ server: s3rver, ...s3rverBars }];
    const bare = await startBareSigned(context.directory, started);
    await smallRows(context, store, peers, [{ server: bare, putBar: 0.5 }]);
    await largeRows(context, store, [], started);
  } finally {
    await Promise.all(started.map(end));
  }
}
