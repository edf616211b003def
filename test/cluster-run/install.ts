// The programs of a cluster, from Debian: Ceph, PostgreSQL, Patroni and etcd. Their packages would start services of
// their own, on the ports everybody knows; nothing is started here but what a run starts itself.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { asRoot, installFromDebian } from "../support/debian.ts";

/** By the package that brings it, by its place. */
const needs: Readonly<Record<string, () => boolean>> = {
  "ceph-mon": () => existsSync("/usr/bin/ceph-mon"),
  "ceph-osd": () => existsSync("/usr/bin/ceph-osd"),
  "ceph-common": () => existsSync("/usr/bin/radosgw-admin"),
  radosgw: () => existsSync("/usr/bin/radosgw"),
  "etcd-server": () => existsSync("/usr/bin/etcd"),
  "python3-etcd": () => existsSync("/usr/lib/python3/dist-packages/etcd/__init__.py"),
  patroni: () => existsSync("/usr/bin/patroni"),
  postgresql: () => postgresPrograms() !== undefined,
};

const postgresRoot = "/usr/lib/postgresql";
const oldestPostgres = 15;

/** The folder of the newest PostgreSQL's programs. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(postgresRoot)) return undefined;
  const versions = readdirSync(postgresRoot)
    .map(Number)
    .filter((version) => version >= oldestPostgres);
  return versions
    .sort((a, b) => b - a)
    .map((version) => `${postgresRoot}/${version}/bin`)
    .find((folder) => existsSync(`${folder}/postgres`));
}

function missingPackages(): string[] {
  return Object.entries(needs)
    .filter(([, isThere]) => !isThere())
    .map(([name]) => name);
}

/** Whether the bytes' side is there already. */
export function isCephInstalled(): boolean {
  return missingPackages().every((name) => !/ceph|radosgw/.test(name));
}

/** What is not to be had here; empty when all is there. */
export function installCluster(): readonly string[] {
  if (missingPackages().length === 0) return [];
  withoutServices(() => installFromDebian(missingPackages));
  return missingPackages();
}

const policy = "/usr/sbin/policy-rc.d";
const clusterSettings = "/etc/postgresql-common/createcluster.conf";

/** No package starts a service, and PostgreSQL's makes no cluster, while the work is done. */
function withoutServices(work: () => void): void {
  const root = asRoot() ?? [];
  const run = (script: string) => {
    const [command, ...args] = [...root, "sh", "-c", script];
    spawnSync(command!, args, { stdio: ["ignore", "inherit", "inherit"] });
  };
  // A machine that says already what may start keeps its own word.
  const isOurs = !existsSync(policy);
  if (isOurs) run(`printf '#!/bin/sh\\nexit 101\\n' > ${policy} && chmod 755 ${policy}`);
  if (!existsSync(clusterSettings)) {
    run(`mkdir -p /etc/postgresql-common && echo "create_main_cluster = false" > ${clusterSettings}`);
    console.log(`${clusterSettings} says now that PostgreSQL's packages make no cluster by themselves.`);
  }
  try {
    work();
  } finally {
    if (isOurs) run(`rm -f ${policy}`);
  }
}
