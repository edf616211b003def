// Checks that Ceph has copied everything to all OSDs. This Ceph has no mgr, so the primary of each
// placement group is queried through its admin socket.
import { connect } from "node:net";
import { join } from "node:path";

export interface Pool {
  readonly pool: number;
  readonly pg_num: number;
}

const osds = [0, 1, 2];

export async function isClean(directory: string, pools: readonly Pool[]): Promise<boolean> {
  const groups = pools.flatMap(({ pool, pg_num }) =>
    Array.from({ length: pg_num }, (_, i) => `${pool}.${i.toString(16)}`),
  );
  for (const group of groups) {
    const answers = await Promise.all(
      osds.map((osd) => ask(directory, osd, { prefix: "query", pgid: group })),
    );
    if (!answers.some(isWhole)) return false;
  }
  return true;
}

/** Whether the answer reports complete data; only the primary OSD of a group reports its state. */
function isWhole(answer: string): boolean {
  if (!answer.startsWith("{")) return false;
  const { state, acting } = JSON.parse(answer) as { state: string; acting: readonly number[] };
  return state === "active+clean" && acting.length === osds.length;
}

function ask(directory: string, osd: number, command: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(join(directory, "run", `osd.${osd}.asok`));
    const pieces: Buffer[] = [];
    socket.on("data", (piece) => pieces.push(piece));
    socket.once("error", reject);
    // The response starts with its length in four bytes, which are skipped.
    socket.once("end", () => resolve(Buffer.concat(pieces).subarray(4).toString()));
    socket.write(`${JSON.stringify(command)}\0`);
  });
}
