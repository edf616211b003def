// A name whose address changes between the check and the connection, and from request to request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runScript } from "../../script/sandbox/outbound/runtime.ts";
import { startProxy, startServer } from "../../script/sandbox/outbound/scene.ts";

const script = `export default {
  async fetch(request) {
    const url = new URL(request.url).searchParams.get("url");
    if (url === null) return new Response("ready");
    try {
      const response = await fetch(url);
      return new Response(response.status + " " + (await response.text()));
    } catch (error) {
      return new Response("refused: " + error);
    }
  },
};`;

for (const isListed of [false, true]) {
  const which = isListed ? "permitted name" : "name";
  test(`a ${which} that is rebound to loopback leads a script nowhere`, async (t) => {
    let hits = 0;
    const { port, server } = await startServer(t, (_, response) => response.end("escaped"));
    server.on("connection", () => {
      hits++;
    });
    let lookups = 0;
    // The first answer passes the check. A second look-up for the connection would get loopback.
    const answers = [["203.0.112.1"], ["127.0.0.1"], ["203.0.112.1", "127.0.0.1"], ["::ffff:127.0.0.1"]];
    const lookup = async () => answers[lookups++ % answers.length]!;
    const outbound = isListed ? [`rebind.example.com:${port}`] : "public";
    const proxy = await startProxy(t, { outbound, lookup, connectMilliseconds: 30 });
    const ask = await runScript(t, { script, outbound: proxy.path });
    const requests = 12;
    for (let i = 0; i < requests; i++) {
      const url = encodeURIComponent(`http://rebind.example.com:${port}/`);
      assert.doesNotMatch(await ask(`/?url=${url}`), /escaped|^200/);
    }
    assert.equal(lookups, requests, "each request is resolved once");
    assert.equal(hits, 0, "no connection reached loopback");
  });
}
