// The settings that have a document in S3.
import { NotificationError } from "../../events/rule-check.ts";
import { createNotificationRules, type NotificationRulesOptions } from "../../events/rules.ts";
import { corsFlaws, lifecycleFlaws } from "../../model/settings/rule-check.ts";
import { S3Error } from "../../s3/errors.ts";
import { encryptionElements, readEncryption } from "../../s3/operations/bucket-encryption.ts";
import { corsElement, readCors } from "../../s3/operations/cors.ts";
import { readLifecycle } from "../../s3/operations/lifecycle.ts";
import { ruleElement } from "../../s3/operations/lifecycle-document.ts";
import { objectLockElements, readObjectLock } from "../../s3/operations/object-lock.ts";
import { notificationElement, readNotifications } from "../../s3/operations/settings/notification.ts";
import { readVersioning, versioningElements } from "../../s3/operations/versioning.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import type { Data } from "../store/open-store.ts";
import { elementsToJson } from "./json-shape.ts";
import { documentError, documentSetting, parseDocument, withDocumentErrors } from "./s3-document.ts";
import type { FilesSetting } from "./setting.ts";
import {
  corsShape,
  encryptionShape,
  lifecycleShape,
  notificationShape,
  objectLockShape,
  versioningShape,
} from "./shapes.ts";

export const lifecycleSetting = documentSetting({
  title: "lifecycle configuration",
  action: "change lifecycle",
  root: "LifecycleConfiguration",
  shape: lifecycleShape,
  read: readLifecycle,
  write: (rules) => rules.map(ruleElement),
  flaws: lifecycleFlaws,
  value: ({ lifecycle }) => (lifecycle === undefined || lifecycle.length === 0 ? undefined : lifecycle),
  // An empty list, as S3's delete leaves it: without one, the default rule for uploads would apply.
  changes: (lifecycle = []) => ({ lifecycle }),
});

export const corsSetting = documentSetting({
  title: "CORS configuration",
  action: "change cors",
  root: "CORSConfiguration",
  shape: corsShape,
  read: readCors,
  write: (rules) => rules.map(corsElement),
  flaws: corsFlaws,
  value: ({ cors }) => cors,
  changes: (cors) => ({ cors }),
});

export const versioningSetting = documentSetting({
  title: "versioning",
  action: "change versioning",
  root: "VersioningConfiguration",
  shape: versioningShape,
  read: readVersioning,
  write: versioningElements,
  value: ({ versioning }) => versioning,
  changes(versioning) {
    if (versioning !== undefined) return { versioning };
    throw new CommandError("Versioning cannot be deleted, only suspended; nothing was changed.", {
      hint: "Suspend it: store bucket versioning <bucket> suspend",
    });
  },
});

export const encryptionSetting = documentSetting({
  title: "default encryption",
  action: "change encryption",
  root: "ServerSideEncryptionConfiguration",
  shape: encryptionShape,
  read: readEncryption,
  write: encryptionElements,
  value: ({ encryption }) => encryption,
  changes: (encryption) => ({ encryption }),
  // Fails here, not at the first write, if the secret key is missing.
  prepare: async (store) => store.secretKey?.(),
});

export const objectLockSetting = documentSetting({
  title: "Object Lock",
  action: "change object lock",
  root: "ObjectLockConfiguration",
  shape: objectLockShape,
  read: readObjectLock,
  write: objectLockElements,
  value: ({ objectLock }) => objectLock,
  changes(objectLock, { versioning }) {
    if (objectLock !== undefined) {
      return versioning === "on" ? { objectLock } : { objectLock, versioning: "on" };
    }
    throw new CommandError("Object Lock cannot be disabled again; nothing was changed.", {
      hint: "Remove only its default retention: store bucket object-lock <bucket> default --none",
    });
  },
});

const notificationRoot = "NotificationConfiguration";

export function notificationSetting(
  listScripts: NonNullable<NotificationRulesOptions["listScripts"]>,
): FilesSetting {
  const openRules = ({ engine, documents, secretKey }: Data) =>
    createNotificationRules({ engine, documents, secretKey, listScripts });
  return {
    title: "notification configuration",
    action: "change notifications",
    needsFiles: true,
    show({ settings: { notifications = [] } }) {
      if (notifications.length === 0) return undefined;
      return elementsToJson(notifications.map(notificationElement), notificationShape);
    },
    parse(document) {
      const make = withDocumentErrors(notificationRoot, () =>
        readNotifications(parseDocument(document, { root: notificationRoot, shape: notificationShape })),
      );
      return async (store, { name }) => {
        try {
          await openRules(store).replace(name, make);
        } catch (error) {
          if (error instanceof S3Error) throw documentError(notificationRoot, error);
          throw error instanceof NotificationError ? usageError(error.message) : error;
        }
        return undefined;
      };
    },
    remove: (store, { name }) => openRules(store).replace(name, () => []),
  };
}
