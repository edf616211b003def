// The contract of the spec on PostgreSQL and Ceph.
import { specContract } from "../../contracts/spec.ts";
import { clusterStore } from "../cluster-pair.ts";

specContract(clusterStore);
