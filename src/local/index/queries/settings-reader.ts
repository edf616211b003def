// Reads a bucket's settings. Every write needs them and they rarely change, so SQLite compares the
// row with the last texts: that costs less than returning all texts again. What it must return is
// parsed again only where it changed.
import { type BucketSettings, type SettingName, settingNames } from "../../../model/bucket.ts";
import { verifyText } from "../../rows/checksum.ts";
import { noSetting } from "../schema.ts";
import { type ArrayStatement, type Database, prepareArrays } from "../sqlite.ts";

export interface StoredSettings {
  /** The bucket's deletion mark, not verified. */
  readonly deleted: unknown;
  readonly settings: BucketSettings;
}

type SettingsRow = readonly [deleted: unknown, ...settings: unknown[]];

interface KnownSettings {
  /** Returns the deletion mark if all texts are the known ones, and no row otherwise. */
  readonly ifSame: ArrayStatement<[deleted: unknown]> | undefined;
  readonly texts: readonly unknown[];
  readonly settings: BucketSettings;
}

/** Longer texts are returned and compared here, because a statement that contains them could be refused. */
const maxComparedLength = 256 * 1024;

export function createSettingsReader(database: Database): () => StoredSettings {
  const readAll = prepareArrays<SettingsRow>(
    database,
    `SELECT deleted, ${settingNames.join(", ")} FROM bucket`,
  );
  let known: KnownSettings = {
    ...{ ifSame: prepareComparison(database, unset), texts: unset, settings: noSettings },
  };
  return () => {
    const same = known.ifSame?.get();
    if (same !== undefined) return { deleted: same[0], settings: known.settings };
    const [deleted, ...texts] = readAll.get()!;
    if (known.ifSame === undefined && texts.every((text, i) => text === known.texts[i]))
      return { deleted, settings: known.settings };
    const settings = parseSettings(texts, known);
    known = { ifSame: prepareComparison(database, texts), texts, settings };
    return { deleted, settings };
  };
}

function prepareComparison(
  database: Database,
  texts: readonly unknown[],
): ArrayStatement<[deleted: unknown]> | undefined {
  const literals = texts.map((text) => `'${String(text).replaceAll("'", "''")}'`);
  const conditions = settingNames.map((name, i) => `${name} IS ${literals[i]}`).join(" AND ");
  if (conditions.length > maxComparedLength) return undefined;
  return prepareArrays(database, `SELECT deleted FROM bucket WHERE ${conditions}`);
}

const noSettings: BucketSettings = {};
const unset = settingNames.map(noSetting);

function parseSettings(texts: readonly unknown[], known: KnownSettings): BucketSettings {
  if (texts.every((text, i) => text === unset[i])) return noSettings;
  return Object.assign(
    {},
    ...settingNames.map((name, i) => {
      const earlier = known.settings[name];
      if (texts[i] === known.texts[i]) return earlier === undefined ? noSettings : { [name]: earlier };
      return parseSetting(name, texts[i]);
    }),
  );
}

function parseSetting(name: SettingName, checked: unknown): BucketSettings {
  const text = verifyText(checked, `the bucket's setting "${name}"`, name);
  return text === "" ? noSettings : { [name]: JSON.parse(text) };
}
