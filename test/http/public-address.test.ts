// Which addresses count as public. Each row has its own reason to be public or not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress, isSameAddress } from "../../src/http/public-address.ts";

const notPublic: Readonly<Record<string, readonly string[]>> = {
  unspecified: ["0.0.0.0", "0.0.0.1", "0.255.255.255", "::", "0:0:0:0:0:0:0:0"],
  loopback: ["127.0.0.1", "127.0.0.53", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"],
  "unique local": ["fc00::1", "fd00::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  "link local": ["169.254.0.1", "169.254.255.255", "fe80::1", "febf::1", "fe80::1%eth0", "fe80::1%1"],
  "site local": ["fec0::1", "feff::1"],
  metadata: ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fd20:ce::254", "168.63.129.16"],
  "metadata in other networks": ["100.100.100.200", "192.0.0.192"],
  "carrier-grade NAT": ["100.64.0.0", "100.64.0.1", "100.127.255.255"],
  "protocol assignments": ["192.0.0.1", "192.0.0.255", "2001:1::1", "2001:1ff:ffff::1"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1", "3fff:fff::1"],
  benchmarks: ["198.18.0.1", "198.19.255.255", "2001:2::1"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
  reserved: ["240.0.0.1", "254.1.2.3", "255.255.255.255", "4000::1", "5f00::1", "e000::1", "100::1"],
  "relay anycast": ["192.88.99.1"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::FFFF:10.0.0.1", "0:0:0:0:0:ffff:a9fe:a9fe"],
  "IPv4-compatible": ["::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::808:808"],
  "IPv4-translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
  NAT64: ["64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "64:ff9b:1::808:808"],
  "6to4": ["2002:7f00:1::1", "2002:a00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"],
  Teredo: ["2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  "not an address": [
    "",
    "localhost",
    "example.com",
    "8.8.8",
    "8.8.8.8.",
    "0x7f.0.0.1",
    "2130706433",
    "127.1",
  ],
  "not an address either": ["010.0.0.1", "[::1]", "8.8.8.8:80", " 8.8.8.8", "1.2.3.256", "::1::", "12345::"],
};

const publicAddresses = [
  ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0"],
  ...["126.255.255.255", "128.0.0.1", "168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255"],
  ...["172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255"],
  ...["198.20.0.0", "203.0.114.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2003::1"],
  ...["2606:4700:4700::1111", "2a00:1450:4001::200e", "3ffe::1", "::ffff:8.8.8.8", "::ffff:808:808"],
  ...["64:ff9b::8.8.8.8", "2620:fe::fe"],
];

for (const [kind, addresses] of Object.entries(notPublic)) {
  test(`addresses of this kind are not public: ${kind}`, () => {
    for (const address of addresses) assert.equal(isPublicAddress(address), false, address);
  });
}

test("addresses just outside the special networks, and IPv4 addresses within IPv6, are public", () => {
  for (const address of publicAddresses) assert.equal(isPublicAddress(address), true, address);
});

test("two spellings of one address are the same address, and a mapped one is its IPv4 address", () => {
  assert.ok(isSameAddress("::1", "0:0:0:0:0:0:0:1"));
  assert.ok(isSameAddress("FD00::A", "fd00:0::000a"));
  assert.ok(isSameAddress("::ffff:10.0.0.5", "10.0.0.5"));
  assert.ok(!isSameAddress("::10.0.0.5", "10.0.0.5"));
  assert.ok(!isSameAddress("64:ff9b::a00:5", "10.0.0.5"));
  assert.ok(!isSameAddress("localhost", "localhost"));
});
