// Starts Ceph if its Debian packages are installed: a monitor, one OSD with one copy, one radosgw.
import { startCeph } from "../../test/cluster-run/ceph.ts";
import { isCephInstalled } from "../../test/cluster-run/install.ts";
import type { Grounds } from "../../test/cluster-run/sandbox.ts";
import type { Context } from "../section.ts";
import { bucket, type S3Server, s3ServerAt } from "./s3-server.ts";
import { leftOut } from "./s3rver.ts";

const name = "Ceph radosgw";

/** Adds radosgw to `servers`. If it is not installed or does not start, adds a note instead. */
export async function startRadosgw(context: Context, grounds: Grounds, servers: S3Server[]): Promise<void> {
  if (!isCephInstalled()) {
    context.note(`${name} is skipped: Ceph is not installed (npm run test:cluster installs it).`);
    return;
  }
  context.progress(`starting ${name}`);
  try {
    const ceph = await startCeph(grounds, { osds: 1, gateways: 1 });
    await ceph.createBucket(bucket);
    const { accessKeyId, secretAccessKey } = ceph;
    servers.push(
      s3ServerAt({ name, endpoint: ceph.endpoints[0]!, accessKeyId, secretAccessKey, isSynced: true }),
    );
    context.note(`${name}: one OSD with one copy; BlueStore syncs before it answers.`);
  } catch (error) {
    context.note(leftOut(name, error));
  }
}
