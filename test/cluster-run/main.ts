// `npm run test:cluster`: a real Ceph and a real PostgreSQL under Patroni, installed from Debian and started on
// loopback; on them the contracts (`--contracts`) and the faults (`--faults`), both when nothing is said. `--up`
// only starts them and says where they are. What cannot be installed is told loudly; what fails, fails the run.
import { once } from "node:events";
import { parseArgs } from "node:util";
import { startEnvironment } from "./environment.ts";
import { installCluster } from "./install.ts";

const { values } = parseArgs({ options: { up: { type: "boolean", default: false } } });

const missing = installCluster();
if (missing.length > 0) {
  console.error(
    `\nNOT TESTED: PostgreSQL and Ceph as a cluster: not installed, and not to be installed from Debian here: ${missing.join(", ")}\n`,
  );
} else {
  const begun = Date.now();
  const environment = await startEnvironment();
  console.log(`The cluster is up after ${((Date.now() - begun) / 1000).toFixed(1)} s.`);
  try {
    if (values.up) await stay();
  } finally {
    await environment.stop();
  }

  async function stay(): Promise<void> {
    const { ceph, patroni } = environment;
    await ceph.createBucket("store");
    console.log(`records ${patroni.url("postgres")}\nblobs ${ceph.url("store")}\nControl-C ends it.`);
    process.stdin.resume();
    await once(process.stdin, "end");
  }
}
