// Finds the service that a command works on: --profile and --endpoint, then STORE_PROFILE and
// STORE_ENDPOINT. Without them, a command works on the files of a store.
import type { Invocation } from "../../framework/command.ts";
import { type CommandError, usageError } from "../../framework/command-error.ts";
import type { RemoteEndpoint } from "./client.ts";
import { type Profile, requireProfile } from "./profiles.ts";
import { serviceUrl } from "./service-url.ts";

export interface Service {
  /** Throws if the access key is not known. */
  readonly endpoint: RemoteEndpoint;
  /** URL and token of the console, if known. */
  readonly console: { readonly url: string; readonly token: string } | undefined;
}

interface Choice {
  readonly profile: string | undefined;
  readonly endpoint: string | undefined;
  /** The option or variable that makes the choice, for messages. */
  readonly label: string;
}

const localOptions = ["data", "records", "blobs"] as const;
const localVariables = ["STORE_DATA", "STORE_RECORDS", "STORE_BLOBS"] as const;

/** Returns undefined if the command works on the files of a store. */
export function findChoice({ options, environment }: Invocation): Choice | undefined {
  const [profile, endpoint] = [options.text("profile"), options.text("endpoint")];
  const local = localOptions.find((name) => options.text(name) !== undefined);
  if (profile !== undefined || endpoint !== undefined) {
    const label = endpoint === undefined ? "--profile" : "--endpoint";
    if (local !== undefined) {
      throw usageError(
        `${label} (a running server) and --${local} (the files of a store) cannot be combined.`,
        [`Remove ${label} or --${local}.`],
      );
    }
    return { profile: profile ?? (environment.STORE_PROFILE || undefined), endpoint, label };
  }
  if (local !== undefined) return undefined;
  const given = { profile: environment.STORE_PROFILE, endpoint: environment.STORE_ENDPOINT };
  if (!given.profile && !given.endpoint) return undefined;
  const label = given.endpoint ? "STORE_ENDPOINT" : "STORE_PROFILE";
  const files = localVariables.find((name) => environment[name]);
  if (files !== undefined) {
    throw usageError(`${label} (a running server) and ${files} (the files of a store) are both set.`, [
      "Unset one of them, or choose with an option.",
    ]);
  }
  return { profile: given.profile || undefined, endpoint: given.endpoint || undefined, label };
}

export async function chosenService(invocation: Invocation): Promise<Service | undefined> {
  const choice = findChoice(invocation);
  if (choice === undefined) return undefined;
  const { environment } = invocation;
  const profile = choice.profile === undefined ? undefined : await requireProfile(invocation, choice.profile);
  if (profile !== undefined && choice.endpoint === undefined) {
    return toService(profile, environment, () => profile);
  }
  const endpoint = choice.endpoint ?? "";
  if (serviceUrl(endpoint) === undefined) throw notServiceUrl(choice.label);
  return toService({ ...profile, endpoint }, environment, () => profile ?? credentialsFrom(environment));
}

export function notServiceUrl(label: string): CommandError {
  // The URL itself is not shown: it may contain a password.
  return usageError(`${label} needs the URL of a server, without a path, a user or a password.`, [
    "For example: https://s3.example.com or http://127.0.0.1:9000",
  ]);
}

export async function profileService(invocation: Invocation, name: string): Promise<Service> {
  const profile = await requireProfile(invocation, name);
  return toService(profile, invocation.environment, () => profile);
}

type Environment = Invocation["environment"];

/** `credentials` throws without an access key. What only uses the console needs none. */
function toService(
  profile: Pick<Profile, "endpoint"> & Partial<Profile>,
  environment: Environment,
  credentials: () => Omit<Profile, "endpoint">,
): Service {
  const url = serviceUrl(profile.endpoint)!;
  const consoleUrl = profile.console ?? environment.STORE_CONSOLE_URL;
  const token = profile.consoleToken ?? environment.STORE_CONSOLE_TOKEN;
  return {
    get endpoint() {
      const { accessKeyId, secretAccessKey, sessionToken, region } = credentials();
      return { ...url, accessKeyId, secretAccessKey, sessionToken, region };
    },
    console: consoleUrl && token ? { url: consoleUrl, token } : undefined,
  };
}

function credentialsFrom(environment: Environment): Omit<Profile, "endpoint"> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey) {
    throw usageError("There is no access key for the server.", [
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment,",
      "or add a profile, once: store profile add NAME --endpoint URL --access-key ID",
    ]);
  }
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: environment.AWS_SESSION_TOKEN || undefined,
    region: environment.AWS_REGION || environment.AWS_DEFAULT_REGION || defaultRegion,
  };
}

/** Most services accept it. */
export const defaultRegion = "us-east-1";

/** Throws if a service is chosen: for commands that work on the files of a store only. */
export function refuseService(invocation: Invocation): void {
  const choice = findChoice(invocation);
  if (choice === undefined) return;
  const { command } = invocation;
  throw usageError(`store ${command} works on the files of a store, not through a running server.`, [
    choice.label.startsWith("--")
      ? `Leave out ${choice.label}, and run it on the server's machine with --data DIR.`
      : `Unset ${choice.label}, or name the files: store ${command} … --data DIR`,
  ]);
}
