// Holds the binding on PostgreSQL and Ceph to binding.md.
import { bindingContract } from "../../contracts/binding.ts";
import { clusterStore } from "../cluster-pair.ts";

bindingContract(clusterStore);
