// `npm run test:packaging`: builds the Debian package and installs it in a Debian made for the test,
// builds the image without a daemon, and checks the compose file and the Helm chart. Programs come
// from Debian; what cannot be tested here is listed as NOT TESTED.
import { spawnSync } from "node:child_process";
import { asRoot, installFromDebian } from "../support/debian.ts";
import { toldRun } from "../support/optional-tests.ts";

const packages: Readonly<Record<string, string>> = { mmdebstrap: "mmdebstrap", buildah: "buildah" };

if (asRoot() !== undefined)
  installFromDebian(() =>
    Object.entries(packages).flatMap(([program, name]) =>
      spawnSync(program, ["--version"]).error === undefined ? [] : [name],
    ),
  );
toldRun({
  folder: new URL("./checks/", import.meta.url),
  concurrency: 1,
  patience: 1_800_000,
  titles: [
    "the Debian package installs, serves, and keeps its data when it is purged",
    "the image builds without a daemon, and a container of it serves",
    "helm accepts the chart in both modes and refuses wrong values",
    "compose.yaml is valid",
  ],
});
