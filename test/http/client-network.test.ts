// The network by which a client is counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientNetwork } from "../../src/http/client-network.ts";

test("addresses of one /64 network count as one client, and others as others", () => {
  const cases: readonly (readonly [address: string, network: string])[] = [
    ["192.0.2.7", "192.0.2.7"],
    ["", ""],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::ffff", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:0:0:9::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
    ["64:ff9b:1::192.0.2.7", "64:ff9b:1:0::/64"],
    ["64:ff9b:1:2:3:4:192.0.2.7", "64:ff9b:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ];
  for (const [address, network] of cases) assert.equal(clientNetwork(address), network, address);
});
