// `npm run test:console`: installs Debian's Chromium and tests the console in it. Screenshots are
// written to build/console/. Without a browser the tests are skipped with a warning.
import { parseArgs } from "node:util";
import { installFromDebian } from "../support/debian.ts";
import { toldRun } from "../support/optional-tests.ts";
import { missingPackages, titleOf, topics } from "./browser.ts";
import { measureBars } from "./measurements.ts";
import { drawFigures } from "./screenshots.ts";

installFromDebian(missingPackages);
const { values } = parseArgs({
  options: {
    bars: { type: "boolean" },
    figures: { type: "boolean" },
    objects: { type: "string", default: "1000000" },
    /** Size of the measured upload in MiB; 0 measures none. */
    upload: { type: "string", default: "1024" },
  },
});
if (values.bars === true) {
  await measureBars({ objects: Number(values.objects), uploadBytes: Number(values.upload) * 1024 * 1024 });
} else if (values.figures === true) {
  await drawFigures();
} else {
  toldRun({
    folder: new URL("./pages/", import.meta.url),
    concurrency: 2,
    patience: 1_000_000,
    titles: topics.map(titleOf),
  });
}
