// Opens the store of an object or bucket command: the files of a store, or a service.
import type { Invocation } from "../framework/command.ts";
import { toCommandError } from "../framework/failures.ts";
import type { OpenStore } from "./object-store.ts";
import { type DataOptions, withData } from "./open-store.ts";
import { openRemoteStore } from "./remote/open-remote.ts";
import { chosenService, type Service } from "./remote/service.ts";

/** Opens the store, runs `work` and closes the store. */
export async function withStore<T>(
  invocation: Invocation,
  options: DataOptions,
  work: (store: OpenStore) => Promise<T>,
): Promise<T> {
  const service = await chosenService(invocation);
  if (service === undefined) return withData(invocation, options, work);
  return withService(service, options, work);
}

export async function withService<T>(
  { endpoint }: Service,
  { subject }: Pick<DataOptions, "subject">,
  work: (store: OpenStore) => Promise<T>,
): Promise<T> {
  const { store, close } = openRemoteStore(endpoint);
  try {
    return await work({ engine: store, recordAudit: async () => {}, tidy: async () => {} });
  } catch (error) {
    throw toCommandError(error, subject ?? {});
  } finally {
    close();
  }
}
