// Installs the programs of a cluster from Debian: Ceph, PostgreSQL, Patroni and etcd. The services
// that their packages would start on the default ports are not started.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { installFromDebian, runAsRoot } from "../support/debian.ts";

/** Functions that return whether a package is installed, checked by its files. */
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

/** Environment variable with the program folder of another PostgreSQL than Debian's newest. */
const programsVariable = "STORE_TEST_POSTGRES";

/** Returns the program folder of the given or of the newest PostgreSQL. */
export function postgresPrograms(): string | undefined {
  const given = process.env[programsVariable];
  if (given) return existsSync(`${given}/postgres`) ? given : undefined;
  if (!existsSync(postgresRoot)) return undefined;
  const versions = readdirSync(postgresRoot)
    .map(Number)
    .filter((version) => version >= oldestPostgres);
  return versions
    .sort((a, b) => b - a)
    .map((version) => `${postgresRoot}/${version}/bin`)
    .find((folder) => existsSync(`${folder}/postgres`));
}

/** Returns what the server says of itself, such as `postgres (PostgreSQL) 15.18`. */
export function postgresVersion(): string {
  return spawnSync(`${postgresPrograms()}/postgres`, ["--version"], { encoding: "utf8" }).stdout.trim();
}

function missingPackages(): string[] {
  return Object.entries(needs)
    .filter(([, isThere]) => !isThere())
    .map(([name]) => name);
}

export function isCephInstalled(): boolean {
  return missingPackages().every((name) => !/ceph|radosgw/.test(name));
}

/** Installs all packages; returns the packages that could not be installed. */
export function installCluster(): readonly string[] {
  if (missingPackages().length === 0) return [];
  withoutCluster(() => installFromDebian(missingPackages));
  return missingPackages();
}

const clusterSettings = "/etc/postgresql-common/createcluster.conf";

/** Installs while PostgreSQL's packages may not create a cluster by themselves. */
function withoutCluster(install: () => void): void {
  if (!existsSync(clusterSettings)) {
    runAsRoot(`mkdir -p /etc/postgresql-common && echo "create_main_cluster = false" > ${clusterSettings}`);
    console.log(`${clusterSettings} was changed: PostgreSQL's packages create no cluster by themselves.`);
  }
  install();
}
