// Lists every proof in the order in which the long run executes them.

import { rot } from "../../src/prove/rot/rot.ts";
import { backup } from "./backup/backup.ts";
import { backupS3 } from "./backup/backup-s3.ts";
import { disk } from "./disk/disk.ts";
import { events } from "./events/events.ts";
import { fuzz } from "./fuzz/fuzz.ts";
import { kill } from "./kill/kill.ts";
import { leaks } from "./leaks/leaks.ts";
import { linearizable } from "./linearizable/linearizable.ts";
import { model } from "./model/model.ts";
import { overload } from "./overload/overload.ts";
import { power } from "./power/power.ts";
import type { Proof } from "./proof.ts";
import { recovery } from "./recovery/recovery.ts";
import { wire } from "./wire/wire.ts";
import { work } from "./work/work.ts";

export const proofs: readonly Proof[] = [
  model,
  kill,
  recovery,
  linearizable,
  power,
  disk,
  rot,
  leaks,
  backup,
  backupS3,
  events,
  fuzz,
  wire,
  overload,
  work,
];
