// Tests of the reference script of spec 4 and the authorized script of spec 5, served by the real
// server. They run in each tier.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleBytes } from "../support/bytes.ts";
import { example } from "./scene.ts";
import type { Tier } from "./tier.ts";

export function testReferenceScripts(tier: Tier): void {
  for (const mode of ["dev", "serve"] as const) {
    test(
      `store ${mode} serves the reference script exactly as specified (spec 4)${tier.suffix}`,
      tier.needs,
      async (t) => {
        const scene = await tier.open(t);
        const { ask } = await scene.start(mode, { configs: [example("reference")] });

        await t.test(
          "PUT stores the body under the path without its leading slash and confirms it",
          async () => {
            const answer = await ask({
              method: "PUT",
              path: "/a/b c.txt".replace(" ", "%20"),
              body: "Hello, world!",
            });
            assert.equal(answer.status, 200);
            assert.equal(answer.text, "Put a/b%20c.txt successfully!");
            assert.equal((await ask("/a/b%20c.txt")).text, "Hello, world!");
          },
        );

        await t.test("PUT without a body stores an empty object", async () => {
          assert.equal((await ask({ method: "PUT", path: "/empty" })).text, "Put empty successfully!");
          const { status, bytes, headers } = await ask("/empty");
          assert.deepEqual([status, bytes.length, headers["content-length"]], [200, 0, "0"]);
        });

        await t.test("GET returns the object with its etag", async () => {
          const body = sampleBytes(300_000);
          await ask({ method: "PUT", path: "/cat-pic.jpg", body });
          const { status, bytes, headers } = await ask("/cat-pic.jpg");
          assert.equal(status, 200);
          assert.ok(bytes.equals(body));
          assert.match(headers.etag!, /^"[0-9a-f]{32}"$/);
          assert.equal(headers["content-length"], "300000");
        });

        await t.test("GET of a missing key returns 404 with the specified text", async () => {
          const { status, text } = await ask("/none");
          assert.deepEqual([status, text], [404, "Object Not Found"]);
        });

        await t.test("DELETE deletes the key and confirms it, whether or not the key existed", async () => {
          for (let i = 0; i < 2; i++) {
            const { status, text } = await ask({ method: "DELETE", path: "/cat-pic.jpg" });
            assert.deepEqual([status, text], [200, "Deleted!"]);
          }
          assert.equal((await ask("/cat-pic.jpg")).status, 404);
        });

        for (const method of ["POST", "PATCH", "OPTIONS", "PROPFIND"]) {
          await t.test(
            `the reference script answers ${method} with 405 and the allowed methods`,
            async () => {
              const { status, headers } = await ask({ method, path: "/key" });
              assert.deepEqual([status, headers.allow], [405, "PUT, GET, DELETE"]);
            },
          );
        }
      },
    );

    test(
      `store ${mode} serves the authorized script exactly as specified (spec 5)${tier.suffix}`,
      tier.needs,
      async (t) => {
        const scene = await tier.open(t);
        const configs = [example("authorized")];
        const server = await scene.start(mode, { configs });
        const { ask } = server;
        const put = (headers: Record<string, string>, path = "/cat-pic.jpg") =>
          ask({ method: "PUT", path, headers, body: "meow" });
        const forbidden = async (answer: ReturnType<typeof ask>) => {
          const { status, text } = await answer;
          assert.deepEqual([status, text], [403, "Forbidden"]);
        };

        await t.test(
          "every PUT is forbidden while the secret of the authorized script is not set",
          async () => {
            await forbidden(put({}));
            for (const value of ["", "undefined", "null"])
              await forbidden(put({ "X-Custom-Auth-Key": value }));
          },
        );

        await scene.secret("AUTH_KEY_SECRET", "swordfish", configs[0]);
        await server.told(/has new secrets: reloaded/);

        await t.test("PUT without the X-Custom-Auth-Key header is forbidden", () => forbidden(put({})));
        await t.test("PUT with a wrong value of X-Custom-Auth-Key is forbidden", async () => {
          for (const value of ["wrong", "swordfis", "swordfish ish", "SWORDFISH"]) {
            await forbidden(put({ "X-Custom-Auth-Key": value }));
          }
        });
        await t.test("PUT with the secret in a header other than X-Custom-Auth-Key is forbidden", () =>
          forbidden(put({ "X-Auth-Key": "swordfish", Authorization: "swordfish" })),
        );
        await t.test("forbidden PUT requests store nothing", async () => {
          assert.equal((await ask("/cat-pic.jpg")).status, 404);
        });
        await t.test("PUT with the right value of X-Custom-Auth-Key succeeds", async () => {
          const { status, text } = await put({ "X-Custom-Auth-Key": "swordfish" });
          assert.deepEqual([status, text], [200, "Put cat-pic.jpg successfully!"]);
        });
        await t.test("GET of an existing key that is not on the allow list is forbidden", async () => {
          assert.equal((await put({ "X-Custom-Auth-Key": "swordfish" }, "/secret.txt")).status, 200);
          await forbidden(ask("/secret.txt"));
        });
        await t.test("GET of a key on the allow list returns the object", async () => {
          const { status, text } = await ask("/cat-pic.jpg");
          assert.deepEqual([status, text], [200, "meow"]);
        });
        await t.test("DELETE without the X-Custom-Auth-Key header is forbidden", async () => {
          const headers = { "X-Custom-Auth-Key": "swordfish" };
          await forbidden(ask({ method: "DELETE", path: "/cat-pic.jpg" }));
          assert.equal((await ask({ method: "DELETE", path: "/cat-pic.jpg", headers })).text, "Deleted!");
          assert.equal((await ask("/cat-pic.jpg")).status, 404);
        });
        await t.test(
          "POST, PATCH and OPTIONS are forbidden even with a valid X-Custom-Auth-Key header",
          async () => {
            const headers = { "X-Custom-Auth-Key": "swordfish" };
            for (const method of ["POST", "PATCH", "OPTIONS"])
              await forbidden(ask({ method, path: "/k", headers }));
          },
        );
      },
    );
  }
}
