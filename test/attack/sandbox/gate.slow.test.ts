// Clients reach for the gate, through which the supervisor calls a script's other handlers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { converse, restOf } from "../../script/client.ts";
import { skip } from "../../script/sandbox/requirements.ts";
import { openStage } from "./stage.ts";

const hosts = ["bad.example", "gate", "gate:80", "main", "localhost"];
const targets = [
  "/pulse",
  "/scheduled",
  "/notification",
  "//gate/pulse",
  "/..%2fgate/pulse",
  "http://gate/pulse",
  "http://bad.example/pulse",
  "unix:/sockets/gate/pulse",
];

test("clients cannot reach the gate of a sandboxed script", { skip }, async (t) => {
  const { server } = await openStage(t, { attacks: [] });
  for (const target of targets) {
    for (const method of ["GET", "POST"]) {
      await t.test(`${method} ${target} is not answered by the gate`, async () => {
        for (const host of hosts) {
          const socket = await converse(
            server.port,
            `${method} ${target} HTTP/1.1`,
            `Host: ${host}`,
            "X-Forwarded-Host: gate",
            "X-Forwarded-Proto: gate",
            "Content-Length: 0",
            "Connection: close",
            "",
            "",
          );
          const answer = await restOf(socket);
          assert.match(answer, /^HTTP\/1\.1 \d{3} /, host);
          assert.doesNotMatch(answer, /\r\n\r\n(ok|2\r\nok)|outcome|handled/, host);
        }
      });
    }
  }
});
