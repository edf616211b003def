// The contracts of the two ports on every implementation of them.
import { portsContract } from "../contracts/ports.ts";
import { recordsContract } from "../contracts/records.ts";
import { guestPair, portPairs } from "../support/ports.ts";

recordsContract(guestPair.name, (t) => guestPair.open(t));
for (const pair of portPairs) portsContract(pair);
