// The contract of the binding (docs/binding.md) on PostgreSQL and Ceph.
import { bindingContract } from "../../contracts/binding.ts";
import { clusterStore } from "../cluster-pair.ts";

bindingContract(clusterStore);
