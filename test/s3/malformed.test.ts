// Malformed S3 requests: each gets the right S3 error, and the server keeps running.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type Raw, sendRaw, signRaw } from "./raw.ts";
import { type S3Scene, s3Scene } from "./scene.ts";

const text = (body: string) => Buffer.from(body);

async function startScene(
  t: TestContext,
): Promise<{ s3: S3Scene; call(raw: Raw, form?: "header" | "query"): ReturnType<typeof sendRaw> }> {
  const s3 = await s3Scene(t);
  return { s3, call: (raw, form = "header") => sendRaw(s3.url, signRaw(s3.url, raw, { key: s3.key, form })) };
}

/** Sends bytes and returns everything received until the connection closes. */
async function converse(url: string, ...pieces: (string | Buffer)[]): Promise<string> {
  const socket = await openConnection(url);
  for (const piece of pieces) if (!socket.destroyed) socket.write(piece);
  return readToEnd(socket);
}

async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The server may close the connection before everything is sent.
  socket.on("error", () => {});
  socket.setTimeout(20_000, () => socket.destroy());
  await once(socket, "connect");
  return socket;
}

async function readToEnd(socket: Socket): Promise<string> {
  let found = "";
  socket.on("data", (piece) => {
    found += piece.toString("latin1");
  });
  // `once` of node:events would reject on a socket error; the received bytes are still needed.
  await new Promise((resolve) => socket.once("close", resolve));
  return found;
}

test("malformed S3 requests get the right S3 error, and the server keeps running", async (t) => {
  const { s3, call } = await startScene(t);
  const fails = async (raw: Raw, status: number, code: string | undefined) => {
    const answer = await call(raw);
    assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
  };
  const put = { method: "PUT", path: "/bucket/x", body: text("x") };
  const remove = (xml: string): Raw => ({
    method: "POST",
    path: "/bucket",
    query: [["delete", ""]],
    body: text(xml),
  });

  await t.test(
    "documents that are not well-formed, contain a DOCTYPE or are too large are refused",
    async () => {
      const bomb = `<!DOCTYPE x [<!ENTITY a "${"b".repeat(1000)}"><!ENTITY c "&a;&a;&a;">]><Delete><Object><Key>&c;</Key></Object></Delete>`;
      const deep = `${"<a>".repeat(10_000)}${"</a>".repeat(10_000)}`;
      for (const xml of [
        bomb,
        deep,
        "",
        "<Delete>",
        "<Delete/>",
        "<Other/>",
        "<Delete><Object/></Delete>",
        "<Delete>&#xD800;</Delete>",
        "\xff\xfe",
      ]) {
        await fails(remove(xml), 400, "MalformedXML");
      }
      const many = `<Delete>${"<Object><Key>k</Key></Object>".repeat(1001)}</Delete>`;
      await fails(remove(many), 400, "MalformedXML");
      await fails(remove(`<Delete>${" ".repeat(5 * 1024 * 1024)}</Delete>`), 400, "MaxMessageLengthExceeded");
    },
  );

  await t.test("keys that are too long are refused, and keys that look like paths are stored", async () => {
    await fails({ ...put, path: `/bucket/${"k".repeat(1025)}` }, 400, "KeyTooLongError");
    await fails({ ...put, path: `/bucket/${"%C3%BC".repeat(513)}` }, 400, "KeyTooLongError");
    assert.equal((await call({ ...put, path: `/bucket/${"k".repeat(1024)}` })).status, 200);
    for (const path of ["/bucket/../../etc/passwd", "/bucket/%2e%2e/%2e%2e/x", "/bucket/..", "/bucket//"]) {
      const signed = signRaw(s3.url, { ...put, path: canonical(path) }, { key: s3.key, form: "header" });
      assert.equal((await sendRaw(s3.url, { ...signed, path })).status, 200, path);
      const got = signRaw(s3.url, { method: "GET", path: canonical(path) }, { key: s3.key, form: "header" });
      assert.equal((await sendRaw(s3.url, { ...got, path })).text, "x", path);
    }
    const bad = signRaw(s3.url, put, { key: s3.key, form: "header" });
    assert.equal((await sendRaw(s3.url, { ...bad, path: "/bucket/%ff%fe" })).code, "InvalidURI");
    assert.equal((await sendRaw(s3.url, { ...bad, path: "/bucket/%zz" })).code, "InvalidURI");
  });

  await t.test("line breaks in values that become response headers are refused", async () => {
    const evil = "text/plain\r\nSet-Cookie: stolen=1";
    await fails(
      { method: "GET", path: "/bucket/x", query: [["response-content-type", evil]] },
      400,
      "InvalidArgument",
    );
    const cors = `<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin><ExposeHeader>a&#xD;&#xA;b</ExposeHeader></CORSRule></CORSConfiguration>`;
    await fails(
      { method: "PUT", path: "/bucket", query: [["cors", ""]], body: text(cors) },
      400,
      "MalformedXML",
    );
  });

  await t.test("invalid lengths, checksums and unsupported headers are refused", async () => {
    const { host } = new URL(s3.url);
    for (const length of ["-1", "abc", "1e3", "99999999999999999999"]) {
      const answer = await converse(
        s3.url,
        `PUT /bucket/x HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 4\d\d [\s\S]*<Error><Code>\w+</, length);
    }
    const decoded = { ...put, headers: { "x-amz-decoded-content-length": "-5" } };
    const signed = signRaw(s3.url, decoded, {
      key: s3.key,
      form: "header",
      payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    });
    assert.equal((await sendRaw(s3.url, signed)).code, "InvalidArgument");
    await fails(
      { method: "PUT", path: "/bucket/x", headers: { "content-md5": "not an md5" }, body: text("x") },
      400,
      "InvalidDigest",
    );
    await fails(
      { ...put, headers: { "content-md5": Buffer.alloc(16).toString("base64") } },
      400,
      "BadDigest",
    );
    await fails({ ...put, headers: { "x-amz-storage-class": "FROZEN" } }, 400, "InvalidStorageClass");
    await fails({ ...put, headers: { "x-amz-server-side-encryption": "aws:kms" } }, 501, "NotImplemented");
    await fails({ ...put, headers: { "x-amz-tagging": "a=b&a=c" } }, 400, "InvalidArgument");
    await fails({ ...put, query: [["versionId", "null"]] }, 400, "InvalidArgument");
    await fails({ method: "GET", path: "/bucket/x", query: [["versionId", ""]] }, 400, "InvalidArgument");
    await fails({ method: "GET", path: "/bucket/x", query: [["versionId", "abc"]] }, 400, "InvalidArgument");
    await fails({ method: "GET", path: "/bucket", query: [["inventory", ""]] }, 501, "NotImplemented");
    await fails({ method: "PATCH", path: "/bucket/x" }, 405, "MethodNotAllowed");
  });

  await t.test("text that is not HTTP, too many headers and invalid chunks are refused", async () => {
    const { host } = new URL(s3.url);
    assert.match(await converse(s3.url, "NONSENSE\r\n\r\n"), /^HTTP\/1\.1 400 [\s\S]*<Code>BadRequest</);
    // Only slightly over the limit: closing a connection with many unread bytes may lose the
    // response.
    const headers = Array.from({ length: 6000 }, (_, i) => `x-amz-h${i}: ${i}\r\n`).join("");
    const flooded = await converse(s3.url, `GET / HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`);
    assert.match(flooded, /^HTTP\/1\.1 431 [\s\S]*<Code>RequestHeaderSectionTooLarge</);
    const framing = await converse(
      s3.url,
      `PUT /bucket/x HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    );
    assert.match(framing, /^HTTP\/1\.1 4\d\d [\s\S]*<Error><Code>\w+</);
  });

  await t.test(
    "a client that sends Expect: 100-continue is refused before its body, or gets 100 Continue",
    async () => {
      const { host } = new URL(s3.url);
      const refused = await converse(
        s3.url,
        `PUT /bucket/x HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
      );
      assert.match(refused, /^HTTP\/1\.1 403 [\s\S]*<Code>AccessDenied</);
      const body = text("go on");
      const signed = signRaw(
        s3.url,
        { method: "PUT", path: "/bucket/asked", body },
        { key: s3.key, form: "header" },
      );
      const lines = Object.entries(signed.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const socket = await openConnection(s3.url);
      socket.write(
        `PUT /bucket/asked HTTP/1.1\r\n${lines.join("")}content-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`,
      );
      const [first] = (await once(socket, "data")) as [Buffer];
      assert.match(first.toString(), /^HTTP\/1\.1 100 Continue/);
      const response = readToEnd(socket);
      socket.write(body);
      assert.match(await response, /^HTTP\/1\.1 200 OK/);
    },
  );

  await t.test("the server still responds after malformed requests", async () => {
    assert.equal((await call({ method: "GET", path: "/" })).status, 200);
  });
});

function canonical(path: string): string {
  return path
    .split("/")
    .map((part) => encodeURIComponent(decodeURIComponent(part)))
    .join("/");
}
