// `store bucket public …`: lets everybody read a bucket over HTTP, or nobody any more.
import type { Publication } from "../../../model/publication.ts";
import { PublicationError, publish, unpublish } from "../../../public/publications.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { withData } from "../../store/open-store.ts";

export const publicCommand: Command = {
  name: "public",
  summary: "Let everybody read a bucket over HTTP",
  details:
    "The server shows it at /NAME/KEY of the port of public buckets (9002), to anybody and without a key. What is given\n" +
    "replaces what was set before; --off ends it.",
  usage: ["<name> [--index NAME] [--not-found KEY]", "<name> --off"],
  options: {
    index: { value: "NAME", summary: "what is shown for a folder, such as index.html" },
    "not-found": { value: "KEY", summary: "the object that is shown in the place of what is not there" },
    "cache-control": { value: "TEXT", summary: "for objects that have none, such as max-age=3600" },
    domain: {
      value: "NAME",
      summary: "a host name that stands for this bucket alone",
      repeatable: true,
    },
    off: { summary: "nobody may read it any more" },
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
      throw usageError("--off ends it: nothing else can be set with it.");
    try {
      await withData(invocation, { absent: "refuse", subject: { bucket } }, ({ engine, documents }) =>
        isOff ? unpublish(engine, documents, bucket) : publish(engine, documents, bucket, publication),
      );
    } catch (error) {
      throw error instanceof PublicationError ? usageError(error.message) : error;
    }
    if (output.isJson) return output.json({ name: bucket, public: isOff ? null : publication });
    const words = isOff ? "is not public any more" : "is public: everybody may read it";
    await output.line(`Bucket ${output.style.bold(bucket)} ${words}.`);
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
