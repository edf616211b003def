// Every proof there is, in the order of the long run.
import { backup } from "./backup.ts";
import { disk } from "./disk.ts";
import { events } from "./events.ts";
import { fuzz } from "./fuzz.ts";
import { kill } from "./kill.ts";
import { leaks } from "./leaks.ts";
import { linearizable } from "./linearizable.ts";
import { model } from "./model.ts";
import { overload } from "./overload.ts";
import { power } from "./power.ts";
import type { Proof } from "./proof.ts";
import { recovery } from "./recovery.ts";
import { rot } from "./rot.ts";
import { wire } from "./wire.ts";

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
  events,
  fuzz,
  wire,
  overload,
];
