// The xxHash family: values of the reference implementation for every formula, and input in chunks.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { xxhAlgorithms } from "../../../src/model/checksums/checksum.ts";
import { hashBytes, startHash } from "../../../src/model/checksums/hashes.ts";

/** The lengths where the formulas change, with XXH64, XXH3-64 and XXH3-128 of that many bytes. */
const reference: readonly [number, ...string[]][] = [
  [0, "ef46db3751d8e999", "2d06800538d394c2", "99aa06d3014798d86001c324468d497f"],
  [1, "50ff15a81340970f", "929e358d27ae3ee2", "e1325e21416bcdb2929e358d27ae3ee2"],
  [3, "8fd1bf69a31a56f5", "edbd89085055020f", "3442ad336d19d5baedbd89085055020f"],
  [4, "56ad15c35c9774fd", "b88a3316c9cbada6", "3c41cfba3cf40fa9ecdf749c7df1d727"],
  [8, "8e94d1fc5ae68313", "ca529b018625de44", "24222747d398adf75fc05f6c31b88fd7"],
  [9, "cb2d272950ce9046", "70dc22712a6ee9fc", "54c9cbdc0c1f8e8912dd3a59c4eade58"],
  [16, "4765bc7e33386b0c", "9886796291da8a97", "a4590a187daac3af6274db508ba41a6c"],
  [17, "8d58be157676cedd", "f13e1a9528336483", "a050fb2a39d971208577b462c7785367"],
  [31, "18e187606ddc662c", "a702f49208a4f068", "fee9c4aa4b1eae2203984f707278acc0"],
  [32, "fb5a878e50332551", "2f7ddf70286c3c84", "f904626a91227e549596cae756ba1061"],
  [33, "a63616da9f1bfc3d", "266de476c09d9677", "3e2dfecc6b18f6bf37ee5ab733595d4d"],
  [64, "a6833896820986e1", "2cd706754e9ebc4a", "ebe87d545256c92d7f4f4eeab9ec38ff"],
  [65, "b28b69e5a41148d6", "49399ef428124cb1", "9ae5ebdf819e7ecec434d11fbd87ace9"],
  [96, "66a62c638add381a", "9da7b83d15498fd4", "45a29460655738950237a43ab4110f5b"],
  [97, "2c17e143ce34aa9f", "0676eff840cd2227", "776e689b536f961a7cde8fcf5bb9206f"],
  [128, "a411a8fff6fdda4d", "160d5cc14718584d", "8dd01bc0f5eadbb922c072d63790b40b"],
  [129, "a32fafa4de7a64c8", "f59fdf21df5914aa", "9fa4ce64e5dab2270099f4f7b9160dcc"],
  [160, "54137a7572579879", "28e9c8b37686501d", "1233cd9ec1de3c97d9ae37008a0a5bb2"],
  [161, "35094719cc261348", "57a936ffa6d3f0b6", "dc5e85cd9c2077d27f137a3b60b46a03"],
  [240, "c9ce06df4e5c3ad2", "e043677d5ae49e40", "7fd52819776a3252e01ebf56dbd5e8d6"],
  [241, "2effa5e062b8dc4b", "7d187ab642ec16ed", "1c1c691679b431e77d187ab642ec16ed"],
  [256, "1254a72ebacf507c", "aec8f01ddd1080b0", "eb86b8aa50a3b44caec8f01ddd1080b0"],
  [257, "73bcd5dbda0a25be", "e1c5c55471906357", "d2f0c11b778056f1e1c5c55471906357"],
  [320, "b0c88555a43b3e81", "ed0592d5400ae117", "78cc78a4555e33b4ed0592d5400ae117"],
  [1024, "2f7e71487d91649c", "5e1054d10959bf1e", "8dc11059c6acb97d5e1054d10959bf1e"],
  [1025, "617d22252a06d555", "97ff34d6cec3109a", "271723168ea6515197ff34d6cec3109a"],
  [1088, "07371a3581fdd460", "61e648232896da5d", "30f0274e23010b1861e648232896da5d"],
  [1089, "f473758d43a5f684", "59ed144ce97c9bc9", "bdde31fd67e196e359ed144ce97c9bc9"],
  [5000, "07395a60a9557feb", "900d89a13aadcc07", "da06664214c87c0d900d89a13aadcc07"],
];

const input = Buffer.from(Array.from({ length: 5000 }, (_, i) => i * i * 7 + i * 13 + 5));

for (const [i, algorithm] of xxhAlgorithms.entries()) {
  test(`${algorithm} of each length is the value of the reference implementation`, () => {
    for (const [length, ...values] of reference) {
      const value = hashBytes(algorithm, input.subarray(0, length));
      assert.equal(Buffer.from(value).toString("hex"), values[i], `${length} bytes`);
    }
  });

  test(`${algorithm} does not depend on the chunk sizes`, () => {
    const sizes = fc.array(fc.oneof(fc.nat(70), fc.constantFrom(64, 256, 257, 1024, 1100)), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(sizes, (chunks) => {
        const running = startHash(algorithm);
        let at = 0;
        for (const size of chunks) {
          running.update(input.subarray(at, at + size));
          at += size;
        }
        assert.deepEqual(running.digest(), hashBytes(algorithm, input.subarray(0, at)));
      }),
    );
  });
}
