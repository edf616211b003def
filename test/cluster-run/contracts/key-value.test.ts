// The contract of key-value namespaces on PostgreSQL and Ceph.
import { kvContract } from "../../contracts/key-value.ts";
import { clusterStore } from "../cluster-pair.ts";

kvContract(clusterStore);
