// `store bucket public …`: makes a bucket publicly readable over HTTP, or private again.
import type { Publication } from "../../../model/publication.ts";
import { PublicationError, publish, unpublish } from "../../../public/publications.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { withData } from "../../store/open-store.ts";

export const publicCommand: Command = {
  name: "public",
  summary: "Make a bucket publicly readable over HTTP",
  details:
    "The server publishes the objects at /NAME/KEY on the port of public buckets (9002), without authentication.\n" +
    "The given options replace all earlier ones; --off makes the bucket private again.",
  usage: ["<name> [--index NAME] [--not-found KEY]", "<name> --off"],
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
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [bucket = ""] = parameters;
    const isOff = options.flag("off");
    const publication = parsePublication(invocation);
    if (isOff && Object.keys(publication).length > 0)
      throw usageError("--off cannot be combined with other options.");
    try {
      await withData(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
        const { engine, documents } = data;
        if (isOff) await unpublish(engine, documents, bucket);
        else await publish(engine, documents, bucket, publication);
        await data.recordAudit("change publication", bucket, isOff ? "private" : "public");
      });
    } catch (error) {
      throw error instanceof PublicationError ? usageError(error.message) : error;
    }
    if (output.isJson) return output.json({ name: bucket, public: isOff ? null : publication });
    const state = isOff ? "is private" : "is public: anyone can read it";
    await output.line(`Bucket ${output.style.bold(bucket)} ${state}.`);
  },
};

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
