// Routes for the notification rules of a bucket.
import { isFields } from "../../../model/shape.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Fields, Route } from "../../route.ts";
import type { NotificationsDocument } from "../../wire-bucket.ts";
import type { ConsoleBuckets, NewNotification } from "./console-buckets.ts";

const path = "/api/notifications";

export function notificationRoutes(buckets: ConsoleBuckets): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const rules = await buckets.listNotifications(query.text("bucket"));
        return json({ rules, events: buckets.events } satisfies NotificationsDocument);
      },
    },
    {
      method: "POST",
      path,
      needs: { right: "administer", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        return json(await buckets.addNotification(given.text("bucket"), parseRule(given)), 201);
      },
    },
    {
      method: "DELETE",
      path,
      needs: { right: "administer", on: "bucket", in: "query" },
      async run({ query }) {
        if (!(await buckets.removeNotification(query.text("bucket"), query.text("id")))) throw noSuchRule();
        return noContent();
      },
    },
    {
      method: "POST",
      path: `${path}/test`,
      needs: { right: "administer", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        await buckets.testNotification(given.text("bucket"), given.text("id"));
        return noContent();
      },
    },
  ];
}

export function noSuchRule(): ConsoleError {
  return new ConsoleError(404, "This rule no longer exists.", { hint: "Reload the page to see the rules." });
}

function parseRule(given: Fields): NewNotification {
  const target = given.object("target");
  if (
    !isFields(target) ||
    (target.kind !== "webhook" && target.kind !== "script") ||
    typeof target.name !== "string"
  )
    throw new ConsoleError(400, '"target" must have the kind webhook or script, and a name.');
  const events = given.list("events") ?? [];
  if (!events.every((event) => typeof event === "string"))
    throw new ConsoleError(400, '"events" must be strings.');
  const id = given.optionalText("id");
  return {
    id: id === "" ? undefined : id,
    events,
    prefix: given.optionalText("prefix") ?? "",
    suffix: given.optionalText("suffix") ?? "",
    target: { kind: target.kind, name: target.name },
  };
}
