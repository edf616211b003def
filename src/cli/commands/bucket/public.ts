// `store bucket public …`: makes a bucket publicly readable over HTTP, or private again.
import type { Publication } from "../../../model/settings/publication.ts";
import { PublicationError, publish } from "../../../public/publications.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { publicationSetting } from "../../settings/own-settings.ts";
import { findSettingVerb, runSetting, settingUsage } from "../../settings/setting.ts";
import { withData } from "../../store/open-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";

export const publicCommand: Command = {
  name: "public",
  summary: "Make a bucket publicly readable over HTTP",
  details:
    "The server publishes the objects at /NAME/KEY on the port of public buckets (9002), without authentication.\n" +
    "The given options replace all earlier ones, and the command prints what changed; --off makes the bucket private\n" +
    "again. get, set and delete work on the same settings as JSON.",
  usage: ["<name> [--index NAME] [--not-found KEY]", "<name> --off", ...settingUsage],
  options: {
    index: { value: "NAME", summary: "object to serve for a folder, such as index.html" },
    "not-found": { value: "KEY", summary: "object to serve when a key does not exist" },
    "cache-control": { value: "TEXT", summary: "Cache-Control of objects without one, such as max-age=3600" },
    domain: { value: "NAME", summary: "host name that serves only this bucket", repeatable: true },
    off: { summary: "make the bucket private again" },
  },
  examples: [
    "store bucket public website --index index.html --not-found 404.html",
    "store bucket public photos --cache-control max-age=3600 --domain photos.example.com",
    "store bucket public photos --off",
    "store bucket public get photos",
  ],
  async run(invocation) {
    const verb = findSettingVerb(invocation.parameters);
    if (verb !== undefined) {
      checkNoOptions(invocation, verb);
      return runSetting(invocation, publicationSetting, verb);
    }
    const { parameters, options, output } = invocation;
    const [bucket = "", extra] = parameters;
    if (extra !== undefined) throw usageError(`store bucket public does not expect "${extra}".`);
    const isOff = options.flag("off");
    const publication = parsePublication(invocation);
    if (isOff && Object.keys(publication).length > 0)
      throw usageError("--off cannot be combined with other options.");
    const next = isOff ? undefined : publication;
    const before = await changePublication(invocation, bucket, next);
    if (output.isJson) return output.json({ name: bucket, public: next ?? null, before: before ?? null });
    const state = isOff ? "is private" : "is public: anyone can read it";
    await output.line(`Bucket ${output.style.bold(bucket)} ${state}.`);
    for (const line of describeChanges(before, next)) output.note(line);
  },
};

/** Returns the earlier publication. */
async function changePublication(
  invocation: Invocation,
  bucket: string,
  next: Publication | undefined,
): Promise<Publication | undefined> {
  try {
    return await withData(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
      const before = (await requireBucket(data.engine, bucket)).settings.publication;
      await publish(data, bucket, next);
      await data.recordAudit("change publication", bucket, next === undefined ? "private" : "public");
      return before;
    });
  } catch (error) {
    throw error instanceof PublicationError ? usageError(error.message) : error;
  }
}

const titles = { index: "index", notFound: "not found", cacheControl: "cache control", domains: "domains" };

/** Earlier options that a new publication changes or removes: they must not disappear silently. */
function describeChanges(before: Publication = {}, next: Publication = {}): string[] {
  return (Object.keys(titles) as (keyof Publication)[]).flatMap((name) => {
    const [was, is] = [before[name], next[name]].map((value) => value?.toString().replaceAll(",", ", "));
    if (was === undefined || was === is) return [];
    return [`  ${titles[name]}: ${is === undefined ? "removed" : is} (was ${was})`];
  });
}

export function publicationText({ index, notFound, cacheControl, domains = [] }: Publication): string {
  const parts = [
    index === undefined ? [] : [`index ${index}`],
    notFound === undefined ? [] : [`not found ${notFound}`],
    cacheControl === undefined ? [] : [`cache control ${cacheControl}`],
    domains,
  ].flat();
  return parts.length === 0 ? "yes: anyone can read it" : `yes: anyone can read it (${parts.join(", ")})`;
}

function checkNoOptions({ options, command }: Invocation, verb: string): void {
  const given = ["index", "not-found", "cache-control", "domain"].find(
    (name) => options.texts(name).length > 0,
  );
  if (given === undefined && !options.flag("off")) return;
  throw usageError(`store ${command} ${verb} takes no --${given ?? "off"}.`, [
    "Put the settings into the file, or use the options without a verb.",
  ]);
}

function parsePublication({ options }: Invocation): Publication {
  const [index, notFound, cacheControl] = ["index", "not-found", "cache-control"].map((name) =>
    options.text(name),
  );
  const domains = options.texts("domain").map((name) => name.toLowerCase());
  return {
    ...(index === undefined ? {} : { index }),
    ...(notFound === undefined ? {} : { notFound }),
    ...(cacheControl === undefined ? {} : { cacheControl }),
    ...(domains.length === 0 ? {} : { domains }),
  };
}
