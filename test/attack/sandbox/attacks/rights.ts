// A script reaches for what it was not given: secrets, buckets, sockets and other scripts.
import type { Attack } from "../attack.ts";

export const rightsAttacks: readonly Attack[] = [
  {
    name: "reads process.env",
    code: `return JSON.stringify(process.env);`,
    expects: /^(refused|reached: )/,
  },
  {
    name: "lists its env",
    code: `return Object.keys(env).sort().join();`,
    expects: /^reached: ASSETS,BUCKET,KV$/,
  },
  {
    name: "lists the env of the module cloudflare:workers",
    code: `const { env: imported } = await import("cloudflare:workers"); return Object.keys(imported).sort().join();`,
    expects: /^(refused|reached: ASSETS,BUCKET,KV$)/,
  },
  {
    name: "reads keys that name the other bucket",
    code: `const found = [];
for (const key of ["../private/secret", "/private/secret", "private/secret", "bucket\\u0000private/secret", "..\\\\private\\\\secret"])
  found.push(await env.BUCKET.get(key));
return JSON.stringify(found);`,
    expects: /^reached: \[(null,?)+\]$/,
  },
  {
    name: "lists with prefixes and cursors of another bucket",
    code: `const { objects } = await env.BUCKET.list({ prefix: "../private/" });
try { await env.BUCKET.list({ cursor: btoa(JSON.stringify({ bucket: "private", key: "" })) }); } catch {}
return objects.length;`,
    expects: /^reached: 0$/,
  },
  {
    name: "reads keys of the neighbour's namespace",
    code: `const found = [];
for (const key of ["../private:secret", "private/secret", "values/secret?namespace=private", "secret"]) found.push(await env.KV.get(key));
return JSON.stringify(found);`,
    expects: /^reached: \[(null,?)+\]$/,
  },
  {
    name: "constructs a bucket of its own",
    code: `return String(new env.BUCKET.constructor("private"));`,
    expects: "refused",
  },
  {
    name: "calls methods of its bucket on a forged object",
    code: `const forged = Object.create(Object.getPrototypeOf(env.BUCKET), { name: { value: "private" } });
return JSON.stringify(await forged.get("secret"));`,
    expects: "refused",
  },
  {
    name: "sends a forged bucket request with fetch",
    code: `const found = [];
for (const host of ["fake-host", "bucket-0", "bucket-1", "bucket"]) {
  const response = await fetch("https://" + host + "/private", { headers: { "cf-r2-request": JSON.stringify({ version: 1, method: "get", object: "secret", bucket: "private" }) } });
  if (response.ok) found.push(await response.text());
}
if (found.length === 0) throw new Error("nothing");
return found.join();`,
    expects: "refused",
  },
  {
    name: "connects to the gate's socket with node:http",
    code: `const http = await import("node:http");
return await new Promise((resolve, reject) => http.request({ socketPath: "/sockets/gate", path: "/pulse" }, (r) => resolve("status " + r.statusCode)).on("error", reject).end());`,
    expects: "refused",
  },
  {
    name: "connects to a socket of the store with node:net",
    code: `const { connect } = await import("node:net");
return await new Promise((resolve, reject) => { const socket = connect("/sockets/bucket-0"); socket.on("connect", () => resolve("connected")); socket.on("error", reject); });`,
    expects: "refused",
  },
  {
    name: "fetches a Unix socket by URL",
    code: `for (const url of ["unix:/sockets/gate", "http+unix://%2Fsockets%2Fgate/pulse", "http://unix:/sockets/gate:/pulse"]) {
  try { const response = await fetch(url); if (response.ok) return "open " + url; } catch {}
}
throw new Error("none is open");`,
    expects: "refused",
  },
  {
    name: "compiles code from a string",
    code: `return String(new Function("return 6 * 7")()) + eval("1 + 1");`,
    expects: "refused",
  },
  {
    name: "starts a program",
    code: `const { execSync } = await import("node:child_process"); return String(execSync("id"));`,
    expects: "refused",
  },
  {
    name: "forks itself",
    code: `const { fork } = await import("node:child_process"); return String(fork("/bundle/script.js").pid);`,
    expects: "refused",
  },
  {
    name: "starts threads",
    code: `const { Worker: Thread } = await import("node:worker_threads"); return String(new Thread("for(;;){}", { eval: true }).threadId);`,
    expects: "refused",
  },
  {
    name: "loads a native module",
    code: `process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6"); return "loaded";`,
    expects: "refused",
  },
  {
    name: "asks for internal bindings of Node",
    code: `return Object.keys(process.binding("fs")).join();`,
    expects: "refused",
  },
  {
    name: "signals a process outside",
    code: `process.kill(facts.pid, "SIGKILL"); return "killed";`,
    expects: "refused",
  },
  {
    name: "listens on a port with node:net",
    code: `const { createServer } = await import("node:net");
return await new Promise((resolve, reject) => createServer().on("error", reject).listen(18999, () => resolve("listening")));`,
    // The runtime emulates servers inside the isolate. The wall permits no socket of a network.
    expects: /^(refused|reached: listening)/,
  },
  {
    name: "listens on a port with node:http",
    code: `const { createServer } = await import("node:http");
return await new Promise((resolve) => createServer(() => {}).listen(18998, () => resolve("listening")));`,
    expects: /^(refused|reached: listening)/,
  },
  {
    name: "stores a response for the neighbour's address in the cache",
    code: `await caches.default.put("http://good.example/", new Response("poisoned", { headers: { "cache-control": "max-age=600" } }));
return "stored";`,
    expects: "contained",
  },
];
