// `npm run test:interop`: installs the clients, drives each against a started store, and says at the end, once more
// and loudly, what could not be tested. A failing test fails the run; a client that cannot be had does not.
import { toldRun } from "../support/optional-tests.ts";
import { clientNames, titleOf } from "./clients.ts";
import { installClients } from "./install.ts";

installClients();
toldRun({
  folder: new URL("./clients/", import.meta.url),
  concurrency: 2,
  patience: 540_000,
  titles: clientNames.map(titleOf),
});
