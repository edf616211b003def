// Reads a bucket's settings. Every write needs them and they rarely change, so SQLite compares the
// row with the last texts: that costs less than returning all texts again.
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
  readonly settings: BucketSettings;
}

/** Longer texts are read each time, because a statement that contains them could be refused. */
const maxComparedLength = 256 * 1024;

export function createSettingsReader(database: Database): () => StoredSettings {
  const readAll = prepareArrays<SettingsRow>(
    database,
    `SELECT deleted, ${settingNames.join(", ")} FROM bucket`,
  );
  let known: KnownSettings = { ifSame: prepareComparison(database, unset), settings: noSettings };
  return () => {
    const same = known.ifSame?.get();
    if (same !== undefined) return { deleted: same[0], settings: known.settings };
    const [deleted, ...texts] = readAll.get()!;
    const settings = parseSettings(texts);
    known = { ifSame: prepareComparison(database, texts), settings };
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

function parseSettings(texts: readonly unknown[]): BucketSettings {
  if (texts.every((text, i) => text === unset[i])) return noSettings;
  return Object.assign({}, ...settingNames.map((name, i) => parseSetting(name, texts[i])));
}

function parseSetting(name: SettingName, checked: unknown): BucketSettings {
  const text = verifyText(checked, `the bucket's setting "${name}"`, name);
  return text === "" ? noSettings : { [name]: JSON.parse(text) };
}
