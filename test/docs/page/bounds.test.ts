// Checks docs/bounds.md: its bounds are those of the code.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { maxStatements } from "../../../src/access/policy/parse.ts";
import { maxPolicyBytes } from "../../../src/access/policy/policy.ts";
import { maxListLength } from "../../../src/access/policy/shapes.ts";
import { maxDecisionUnits, maxRequestUnits, maxValueLength } from "../../../src/access/policy/work.ts";
import { maxPolicyCharacters } from "../../../src/access/temporary/session-policy.ts";
import { maxLargeFrames } from "../../../src/capability/bucket/frame.ts";
import { maxSettingsLength } from "../../../src/cluster/index/bucket-cache.ts";
import { maxBuckets } from "../../../src/console/api/administration/permission-fields.ts";
import {
  maxSelectionBytes,
  selectionsOfAll,
  selectionsOfUser,
} from "../../../src/console/api/bucket/archive-selections.ts";
import { maxNamed, maxObjects } from "../../../src/console/api/bucket/archives.ts";
import { batchObjects } from "../../../src/console/api/bucket/copies.ts";
import { budgetMilliseconds } from "../../../src/console/api/bucket/search.ts";
import { maxExamined } from "../../../src/console/api/history.ts";
import { pageParts, pageUploads } from "../../../src/console/api/uploads.ts";
import { maxMarkers } from "../../../src/console/api/versions.ts";
import { maxSessions } from "../../../src/console/auth/sessions.ts";
import { maxBucketLinks, maxShareLinks } from "../../../src/console/auth/share-links.ts";
import { defaultJsonBytes } from "../../../src/console/route.ts";
import { eventBound, eventStep } from "../../../src/engine/event-bound.ts";
import { waitingLimits } from "../../../src/events/retention.ts";
import { maxRules, maxWebhookUrl } from "../../../src/events/rule-check.ts";
import { maxHeaderLines } from "../../../src/http/server/limits.ts";
import { maxPipelinedStarts } from "../../../src/http/server/pipelining.ts";
import { maxSkipped } from "../../../src/local/index/queries/version-listing.ts";
import { reasonTable } from "../../../src/model/errors.ts";
import { limits } from "../../../src/model/limits.ts";
import { maxRequestedHeaders } from "../../../src/model/settings/cors.ts";
import { maxDomains } from "../../../src/model/settings/publication.ts";
import {
  maxCorsRules,
  maxCorsTotal,
  maxCorsValues,
  maxLifecycleRules,
  maxLockRules,
} from "../../../src/model/settings/rule-check.ts";
import { jsonLimits } from "../../../src/model/shape.ts";
import { maxBucketTags, maxObjectTags } from "../../../src/model/tags.ts";
import { maxCachedDomains } from "../../../src/public/server.ts";
import { maxContentTypes } from "../../../src/s3/auth/post-policy.ts";
import { maxFieldBytes } from "../../../src/s3/body/form-data.ts";
import { xmlLimits } from "../../../src/s3/body/xml-reader.ts";
import { errors } from "../../../src/s3/errors.ts";
import { maxParameters } from "../../../src/s3/request.ts";
import { stsErrors } from "../../../src/s3/sts/errors.ts";
import { maxBodyBytes } from "../../../src/s3/sts/parameters.ts";
import { maxTokenLength } from "../../../src/s3/sts/web-identity.ts";
import { maxPairs } from "../../../src/s3/tag-header.ts";
import { maxPatterns } from "../../../src/script/assets/ignore-patterns.ts";
import { maxWildcards } from "../../../src/script/assets/rules/path-pattern.ts";
import { root } from "../../cli/store.ts";
import { tableUnder } from "./markdown.ts";

const page = readFileSync(join(root, "docs", "bounds.md"), "utf8");

/** The numbers of each row, by heading and by what the row is about. */
const bounds: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  "All ports": {
    "headers of a request": [maxHeaderLines],
    "headers that a preflight request names, with those of the CORS rules": [maxRequestedHeaders],
    "pipelined requests of a port that start in one turn of the event loop": [maxPipelinedStarts],
  },
  "Public buckets": {
    "documents that tell which bucket has the host of a request": [2],
    "hosts whose bucket is remembered, for a second": [maxCachedDomains],
  },
  "S3 API": {
    "query parameters of a request": [maxParameters],
    "keys or versions that DeleteObjects names": [limits.deleteKeys],
    "parts that CompleteMultipartUpload names": [limits.partNumber],
    "entries of a page of a listing": [limits.listEntries],
    "keys without an object at the time of a listing (`x-store-as-of`)": [maxSkipped],
    "elements of a document": [xmlLimits.markup, 10 * limits.partNumber, xmlLimits.depth],
    "characters in an element": [xmlLimits.text],
    "fields of a form": [maxFieldBytes],
    "content types in a field of a form, with the conditions of its policy": [maxContentTypes],
    "parameters of a request to STS": [maxParameters, maxBodyBytes],
    "an ID token": [maxTokenLength],
    "pairs in `x-amz-tagging`": [maxPairs],
    "evaluation of policies for one key": [maxDecisionUnits],
    "evaluation of policies for one request": [maxRequestUnits],
    "a header that a condition of a policy compares": [maxValueLength],
  },
  "Settings of a bucket": {
    "a policy": [maxPolicyBytes],
    "statements of a policy": [maxStatements],
    "values in a list of a policy": [maxListLength],
    "a policy of temporary credentials": [maxPolicyCharacters],
    "lifecycle rules": [maxLifecycleRules],
    "CORS rules": [maxCorsRules],
    "values in a list of a CORS rule": [maxCorsValues],
    "values in all CORS rules": [maxCorsTotal],
    "lock rules": [maxLockRules],
    "a prefix of a lifecycle or lock rule": [limits.keyBytes],
    "notification rules": [maxRules],
    "a prefix or suffix of a notification rule": [limits.keyBytes],
    "the URL of a webhook": [maxWebhookUrl],
    "settings of buckets that a process of a cluster remembers, for a second": [maxSettingsLength],
    "waiting events of a bucket, checked every 10 seconds": [waitingLimits.events, waitingLimits.bytes],
    "waiting events of a bucket between two checks, and what each process writes meanwhile": [
      ...[eventBound.events, eventBound.bytes, eventStep.events, eventStep.bytes],
    ],
    "tags of a bucket": [maxBucketTags],
    "tags of an object": [maxObjectTags],
    "domains of a public bucket": [maxDomains],
  },
  Console: {
    "values in a body": [jsonLimits.values, jsonLimits.depth],
    "a body, unless its route needs more": [defaultJsonBytes],
    "names in a selection for an archive": [maxNamed, maxNamed],
    "size of a selection for an archive": [maxSelectionBytes],
    "stored selections of a user": [selectionsOfUser.count, selectionsOfUser.bytes],
    "stored selections of all users": [selectionsOfAll.count, selectionsOfAll.bytes],
    "objects in an archive": [maxObjects],
    "keys that a step of a search compares": [limits.searchKeys],
    "time of a search": [budgetMilliseconds],
    "objects that a request copies or moves": [batchObjects],
    "uploads on a page, with their parts": [pageUploads, pageParts],
    "delete markers before the newest version, which a request without a version restores": [maxMarkers],
    "versions that a page of deleted objects reads": [maxExamined],
    "share links of a bucket": [maxBucketLinks],
    "share links of the store": [maxShareLinks],
    "sessions of a token or provider's user": [maxSessions],
    "buckets on which a user has roles": [maxBuckets],
  },
  Scripts: {
    "keys that `delete` names": [limits.deleteKeys],
    "entries of a page of `list`": [limits.listEntries],
    "metadata of a page of `list`": [limits.listMetadataBytes],
    "wildcards in a path of `_headers` or `_redirects`": [maxWildcards],
    "patterns of `.assetsignore`, of at most 1,000 characters": [maxPatterns],
  },
  "Buckets for workerd": {
    "values in the JSON of a request": [jsonLimits.values, jsonLimits.depth],
    "requests of a socket with more than 64 KiB of JSON, at the same time": [maxLargeFrames],
  },
};

for (const [heading, rows] of Object.entries(bounds)) {
  test(`docs/bounds.md has the bounds of the code under "${heading}"`, () => {
    assert.deepEqual(
      tableUnder(page, heading).map(([what = "", bound = ""]) => [what, numbersIn(bound)]),
      Object.entries(rows),
    );
  });
}

test("docs/bounds.md names only errors that exist, with their status", () => {
  const known = { ...stsErrors, ...errors };
  const named = [...page.matchAll(/(\d{3}) `(\w+)`/g)];
  assert.ok(named.length > 20);
  for (const [, status, code] of named) {
    assert.ok(Object.hasOwn(known, code!), code);
    assert.equal(known[code as keyof typeof known][0], Number(status), code);
  }
  const codes = Object.values(reasonTable).map(([code]) => code);
  for (const [, code] of page.matchAll(/code (\d+)/g)) assert.ok(codes.includes(Number(code)), code);
});

function numbersIn(text: string): number[] {
  return [...text.matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(",", "")));
}
