// The contracts of the two ports on PostgreSQL and Ceph.
import { portsContract } from "../../contracts/ports.ts";
import { cluster } from "../cluster-pair.ts";

portsContract(cluster);
