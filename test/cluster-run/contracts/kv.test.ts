// Key-value namespaces on PostgreSQL and Ceph.
import { kvContract } from "../../contracts/kv.ts";
import { clusterStore } from "../cluster-pair.ts";

kvContract(clusterStore);
