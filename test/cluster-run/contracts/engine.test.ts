// The contract of the engine on PostgreSQL and Ceph.
import { engineContract } from "../../contracts/engine.ts";
import { cluster } from "../cluster-pair.ts";

engineContract(cluster.name, (t, options) => cluster.openEngine(t, options));
