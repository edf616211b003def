// `store bucket policy …`: shows, replaces, deletes and tries the policy of a bucket.
import { parsePolicy } from "../../../access/policy/parse.ts";
import { maxPolicyBytes, PolicyError } from "../../../access/policy/policy.ts";
import { isPublicPolicy } from "../../../access/policy/public-status.ts";
import { findVerb } from "../../framework/arguments.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { pathArgument } from "../../framework/path-argument.ts";
import { withData } from "../../store/open-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { withStore } from "../../store/with-store.ts";
import { fileInput, standardInput } from "../../terminal/input.ts";
import { checkAccess, parseCheck } from "./policy-check.ts";

export const policyCommand: Command = {
  name: "policy",
  summary: "Show, replace, delete or try the policy of a bucket",
  details:
    "A bucket policy says in S3's language who may do what: other accounts, single access keys, or everyone.\n" +
    "The file is JSON; - is standard input. check reports whether an access key would be allowed an action;\n" +
    "without --as, an anonymous caller.",
  usage: ["get <bucket>", "set <bucket> <file>", "delete <bucket>", "check <bucket> --action ACTION"],
  options: {
    action: { value: "ACTION", summary: "action to check, such as s3:GetObject" },
    key: { value: "KEY", summary: "object that the action is about" },
    prefix: { value: "TEXT", summary: "prefix of a listing" },
    as: { value: "ID", summary: "id of the access key of the caller" },
    address: { value: "ADDRESS", summary: "address of the caller; default: 127.0.0.1" },
    tls: { summary: "check a request over TLS" },
  },
  examples: [
    "store bucket policy set photos policy.json",
    "store bucket policy check photos --action s3:GetObject --key 2026/a.jpg",
    "store bucket policy delete photos",
  ],
  async run(invocation) {
    const [verb = "", bucket, file] = invocation.parameters;
    const run = findVerb(verbs, "bucket policy", verb);
    if (bucket === undefined) throw usageError(`store bucket policy ${verb} needs a bucket.`);
    const isSet = verb === "set" || verb === "put";
    if (isSet && file === undefined) {
      throw usageError(`store bucket policy ${verb} needs a file, or - for standard input.`);
    }
    if (!isSet && file !== undefined) {
      throw usageError(`store bucket policy ${verb} does not expect "${file}".`);
    }
    await run(invocation, bucket, file ?? "");
  },
};

/** "put" is the earlier name of "set". */
const verbs = { get, set: put, put, delete: remove, check };

async function get(invocation: Invocation, bucket: string): Promise<void> {
  const { output } = invocation;
  const options = { absent: "refuse", subject: { bucket } } as const;
  const { settings } = await withStore(invocation, options, ({ engine }) =>
    requireBucket(engine, bucket, ["policy"]),
  );
  const { policy } = settings;
  if (output.isJson) return output.json({ bucket, policy: policy ?? null });
  if (policy === undefined) output.note(`The bucket ${bucket} has no policy.`);
  else await output.line(policy);
}

async function put(invocation: Invocation, bucket: string, file: string): Promise<void> {
  const { output } = invocation;
  const label = "store bucket policy set";
  const path = file === "-" ? file : pathArgument(invocation, { label, text: file, expected: "a file or -" });
  const text = await readPolicy(path);
  const policy = parseGiven(text, bucket);
  const options = { absent: "refuse", subject: { bucket } } as const;
  const before = await withStore(invocation, options, async ({ engine, recordAudit }) => {
    const { settings } = await requireBucket(engine, bucket, ["publicAccessBlock", "policy"]);
    if (settings.publicAccessBlock?.blockPublicPolicy === true && isPublicPolicy(policy)) {
      throw new CommandError("The public access block of the bucket refuses public policies.");
    }
    await engine.changeSettings(bucket, { policy: text });
    await recordAudit("change policy", bucket);
    return settings.policy;
  });
  const isPublic = isPublicPolicy(policy);
  if (output.isJson) return output.json({ bucket, public: isPublic });
  const state = isPublic ? "It is public: it allows something to everyone." : "It is not public.";
  const did = before === undefined ? "Set" : "Replaced";
  await output.line(`${did} the policy of bucket ${output.name(bucket)}. ${state}`);
  if (before !== undefined && before !== text) output.note(`It was: ${before.replaceAll(/\s*\n\s*/g, " ")}`);
}

async function readPolicy(file: string): Promise<string> {
  const input = file === "-" ? standardInput() : await fileInput(file);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of input.chunks) {
      size += chunk.length;
      if (size > maxPolicyBytes) throw usageError(`The policy is larger than ${maxPolicyBytes} bytes.`);
      chunks.push(chunk);
    }
  } finally {
    input.close();
  }
  const text = Buffer.concat(chunks).toString("utf8").trim();
  if (text !== "") return text;
  throw usageError(
    "The policy is empty; nothing was changed.",
    "To remove it: store bucket policy delete <bucket>",
  );
}

function parseGiven(text: string, bucket: string) {
  try {
    return parsePolicy(text, bucket);
  } catch (error) {
    throw error instanceof PolicyError ? usageError(`${error.message} Nothing was changed.`) : error;
  }
}

async function remove(invocation: Invocation, bucket: string): Promise<void> {
  const { output } = invocation;
  const options = { absent: "refuse", subject: { bucket } } as const;
  await withStore(invocation, options, async ({ engine, recordAudit }) => {
    await requireBucket(engine, bucket, []);
    await engine.changeSettings(bucket, { policy: undefined });
    await recordAudit("change policy", bucket);
  });
  if (output.isJson) await output.json({ bucket, policy: null });
  else await output.line(`Deleted the policy of bucket ${output.name(bucket)}.`);
}

async function check(invocation: Invocation, bucket: string): Promise<void> {
  const { output } = invocation;
  const asked = parseCheck(invocation, bucket);
  const options = { absent: "refuse", subject: { bucket } } as const;
  const isAllowed = await withData(invocation, options, (data) => checkAccess(data, asked));
  const { action, key, accessKeyId } = asked;
  if (output.isJson)
    return output.json({ bucket, key: key ?? null, action, as: accessKeyId ?? null, isAllowed });
  const resource = key === undefined ? bucket : `${bucket}/${key}`;
  await output.line(`${action} on ${output.name(resource)}: ${isAllowed ? "allowed" : "denied"}`);
}
