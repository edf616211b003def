// Holds a store on PostgreSQL and Ceph to the sentences of the spec.
import { specContract } from "../../contracts/spec.ts";
import { clusterStore } from "../cluster-pair.ts";

specContract(clusterStore);
