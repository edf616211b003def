// `store profile add`: stores the address and the access key of a service. Secrets are read from the
// environment, a prompt or stdin, never from an argument, which other users could see.
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import {
  checkProfileName,
  type Profile,
  profilesFile,
  readProfiles,
  writeProfiles,
} from "../../store/remote/profiles.ts";
import { defaultRegion, notServiceUrl } from "../../store/remote/service.ts";
import { serviceUrl } from "../../store/remote/service-url.ts";
import { ask, askHidden } from "../../terminal/prompt.ts";
import { readText } from "../../terminal/read-text.ts";

export const addCommand: Command = {
  name: "add",
  summary: "Add a server or S3 service under a name",
  details:
    "The secret access key is read from AWS_SECRET_ACCESS_KEY, from a prompt, or from the first line of stdin. With\n" +
    "--console, the token of `store console token` is read from STORE_CONSOLE_TOKEN, or from the next line.\n" +
    "They are stored in ~/.config/store/profiles.json, which only you can read.",
  usage: ["<name> --endpoint URL [--access-key ID] [--region NAME] [--console URL]"],
  options: {
    "access-key": { value: "ID", summary: "id of the access key; default: AWS_ACCESS_KEY_ID" },
    region: { value: "NAME", summary: `region of the service; default: AWS_REGION, or ${defaultRegion}` },
    console: { value: "URL", summary: "URL of the console, for keys, users, quotas and the audit log" },
    replace: { summary: "replace a profile of this name" },
  },
  examples: [
    "store profile add work --endpoint https://s3.example.com --access-key AKIAEXAMPLE",
    "store profile add home --endpoint http://127.0.0.1:9000 --console http://127.0.0.1:9001 --replace",
  ],
  async run(invocation) {
    const { parameters, options, output, environment } = invocation;
    const [name = ""] = parameters;
    checkProfileName(name);
    const profiles = await readProfiles(invocation);
    if (profiles.has(name) && !options.flag("replace")) {
      throw new CommandError(`The profile "${name}" already exists; nothing was changed.`, {
        hint: "To replace it, add --replace.",
      });
    }
    const endpoint = urlOption(invocation, "endpoint") ?? (environment.AWS_ENDPOINT_URL || undefined);
    if (endpoint === undefined) throw usageError("store profile add needs --endpoint URL.", exampleHint);
    if (serviceUrl(endpoint) === undefined) throw notServiceUrl("AWS_ENDPOINT_URL");
    const consoleUrl = urlOption(invocation, "console");
    const region = options.text("region") ?? (environment.AWS_REGION || defaultRegion);
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(region)) throw usageError(`"${region}" is not a valid region.`);
    const secrets = await readSecrets(invocation, consoleUrl !== undefined);
    const sessionToken = environment.AWS_SESSION_TOKEN || undefined;
    const profile: Profile = {
      ...{ endpoint: endpoint.replace(/\/$/, ""), region, ...secrets },
      ...(sessionToken === undefined ? {} : { sessionToken }),
      ...(consoleUrl === undefined ? {} : { console: consoleUrl.replace(/\/$/, "") }),
    };
    await writeProfiles(invocation, new Map(profiles).set(name, profile));
    if (output.isJson)
      return output.json({ name, endpoint: profile.endpoint, file: profilesFile(invocation) });
    await output.line(`Added profile ${output.name(name)} for ${profile.endpoint}.`);
    output.note(`Try it: store bucket list --profile ${name}`);
  },
};

const exampleHint = "For example: store profile add work --endpoint https://s3.example.com --access-key ID";

function urlOption({ options }: Invocation, name: "endpoint" | "console"): string | undefined {
  const text = options.text(name);
  if (text !== undefined && serviceUrl(text) === undefined) throw notServiceUrl(`--${name}`);
  return text;
}

type Secrets = Pick<Profile, "accessKeyId" | "secretAccessKey" | "consoleToken">;

async function readSecrets(invocation: Invocation, needsToken: boolean): Promise<Secrets> {
  const { environment, options } = invocation;
  const lines = createLines(invocation);
  const accessKeyId =
    options.text("access-key") ?? (environment.AWS_ACCESS_KEY_ID || (await askAccessKey(invocation)));
  if (!/^[\x21-\x7e]{1,256}$/.test(accessKeyId)) throw usageError("The access key is not valid.");
  const secretAccessKey = environment.AWS_SECRET_ACCESS_KEY || (await lines.next("Secret access key"));
  const consoleToken = !needsToken
    ? undefined
    : environment.STORE_CONSOLE_TOKEN || (await lines.next("Token of the console"));
  return { accessKeyId, secretAccessKey, ...(consoleToken === undefined ? {} : { consoleToken }) };
}

async function askAccessKey({ output }: Invocation): Promise<string> {
  if (!process.stdin.isTTY) throw usageError("store profile add needs --access-key ID.", exampleHint);
  return ask(process.stdin, output, "Access key: ");
}

/** Reads secrets one by one: hidden on a terminal, otherwise one line of stdin each. */
function createLines({ output }: Invocation) {
  let rest: string[] | undefined;
  return {
    async next(what: string): Promise<string> {
      if (process.stdin.isTTY)
        return required(what, await askHidden(process.stdin, output, `${what} (not shown): `));
      rest ??= (await readText(process.stdin, "Standard input")).split(/\r?\n/);
      return required(what, rest.shift());
    },
  };
}

function required(what: string, text: string | undefined): string {
  if (text !== undefined && text !== "") return text;
  throw new CommandError(`The ${what.toLowerCase()} is empty; nothing was changed.`, {
    hint: "Type it at the prompt, or pass it on standard input, one line each.",
  });
}
