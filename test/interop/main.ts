// `npm run test:interop`: installs the clients, runs each against a started store, and lists the
// clients that could not be tested. Only a failed test fails the run.
import { toldRun } from "../support/optional-tests.ts";
import { clientNames, testTitle } from "./clients.ts";
import { installClients } from "./install.ts";

installClients();
toldRun({
  folder: new URL("./clients/", import.meta.url),
  concurrency: 2,
  patience: 540_000,
  titles: clientNames.map(testTitle),
});
