// Routes for the notification rules of a bucket. Why a webhook did not accept a message is shown to
// administrators of the store only: others could explore the server's network with it.
import { isFields } from "../../../model/shape.ts";
import { allows } from "../../auth/roles.ts";
import type { Session } from "../../auth/sessions.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Fields, Route } from "../../route.ts";
import type { NotificationDocument, NotificationsDocument } from "../../wire-bucket.ts";
import type { ConsoleBuckets, NewNotification } from "./console-buckets.ts";

const path = "/api/notifications";

export function notificationRoutes(buckets: ConsoleBuckets): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query, session }) {
        const rules = await buckets.listNotifications(query.text("bucket"));
        const shown = seesReasons(session) ? rules : rules.map(withoutReason);
        return json({ rules: shown, events: buckets.events } satisfies NotificationsDocument);
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
      async run({ fields, session }) {
        const given = await fields();
        const reason = await buckets.testNotification(given.text("bucket"), given.text("id"));
        if (reason === undefined) return noContent();
        const details = seesReasons(session) ? `: ${reason}` : "";
        throw new ConsoleError(409, `The webhook did not accept the test message${details}.`);
      },
    },
  ];
}

function seesReasons({ permissions }: Session): boolean {
  return allows(permissions, "administer");
}

function withoutReason({ lastFailure, ...rule }: NotificationDocument): NotificationDocument {
  return { ...rule, lastFailure: lastFailure && { ...lastFailure, what: "not accepted" } };
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
