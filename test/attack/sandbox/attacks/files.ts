// A script looks for files: of the machine, of the store, of other processes.
import type { Attack } from "../attack.ts";

const read = (path: string) => `
const { readFileSync } = await import("node:fs");
return readFileSync(${path}, "latin1");`;

export const fileAttacks: readonly Attack[] = [
  { name: "reads /etc/passwd", code: read('"/etc/passwd"'), expects: "refused" },
  { name: "reads /etc/shadow", code: read('"/etc/shadow"'), expects: "refused" },
  {
    name: "reads the secret key of the store",
    code: read("`${facts.data}/secret.key`"),
    expects: "refused",
  },
  {
    name: "lists the data directory",
    code: `const { readdirSync } = await import("node:fs"); return readdirSync(facts.data);`,
    expects: "refused",
  },
  {
    name: "reads its own configuration outside its bundle",
    code: read("`${facts.folder}/store.toml`"),
    expects: "refused",
  },
  { name: "reads its environment in /proc", code: read('"/proc/self/environ"'), expects: "refused" },
  {
    name: "reads the environment of a process outside in /proc",
    code: read("`/proc/${facts.pid}/environ`"),
    expects: "refused",
  },
  {
    name: "reads the memory map of the first process of its namespace",
    code: read('"/proc/1/maps"'),
    expects: "refused",
  },
  {
    name: "lists the root folder",
    code: `const { readdirSync } = await import("node:fs"); return readdirSync("/").sort().join();`,
    // The runtime's own folders in memory.
    expects: /^(refused: .*|reached: (bundle|dev|tmp|,)*)$/s,
  },
  {
    name: "lists the folder of sockets",
    code: `const { readdirSync } = await import("node:fs"); return readdirSync("/sockets");`,
    expects: "refused",
  },
  {
    name: "follows its own symbolic link to /etc/passwd",
    code: `const { symlinkSync, readFileSync } = await import("node:fs");
symlinkSync("/etc/passwd", "/tmp/link"); return readFileSync("/tmp/link", "latin1");`,
    expects: "refused",
  },
  {
    name: "leaves its folder with dots",
    code: read('"/bundle/../../../../etc/passwd"'),
    expects: "refused",
  },
  {
    name: "writes to /etc",
    code: `const { writeFileSync } = await import("node:fs"); writeFileSync("/etc/cron.d/x", "x"); return "written";`,
    expects: "refused",
  },
  {
    name: "replaces the runtime's binary",
    code: `const { writeFileSync } = await import("node:fs"); writeFileSync("/workerd", "x"); return "written";`,
    expects: "refused",
  },
  {
    name: "replaces its own bundle",
    code: `const { writeFileSync } = await import("node:fs"); writeFileSync("/bundle/script.js", "x"); return "written";`,
    expects: "refused",
  },
  {
    name: "fetches a file URL",
    code: `return (await fetch("file:///etc/passwd")).text();`,
    expects: "refused",
  },
  {
    name: "imports a file by its path",
    code: `const path = "/etc/passwd"; return Object.keys(await import(path)).join();`,
    expects: "refused",
  },
  {
    name: "requires a file by its path",
    code: `const { createRequire } = await import("node:module"); return createRequire("/")("/etc/passwd");`,
    expects: "refused",
  },
  {
    name: "opens the database of the store with node:sqlite",
    code: `const name = "node:sqlite"; const { DatabaseSync } = await import(name);
return String(new DatabaseSync(facts.data + "/records.sqlite"));`,
    expects: "refused",
  },
  {
    name: "fetches an asset that is a symbolic link to /etc/passwd",
    code: `const response = await env.ASSETS.fetch("https://assets/link.txt"); return response.status + await response.text();`,
    expects: /^(refused|reached: 404)/,
  },
  {
    name: "fetches an asset through a link to the data directory",
    code: `const response = await env.ASSETS.fetch("https://assets/data/secret.key"); return response.status + await response.text();`,
    expects: /^(refused|reached: 404)/,
  },
  {
    name: "leaves the folder of assets with encoded dots",
    code: `const found = [];
for (const path of ["..%2f..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/store.toml", "..\\\\store.toml", "%00/../store.toml"])
  found.push((await env.ASSETS.fetch("https://assets/" + path)).status);
return found.join();`,
    // A redirect names a normalized path inside the folder.
    expects: /^(refused|reached: ((404|400|307),?)+$)/,
  },
];
