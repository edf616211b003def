// Schema version 5: listings of versions, and of the objects that were current at a time. All are
// STABLE, so that their lookups see one snapshot.
import { currentEntry } from "./v5-tables.ts";

const inRange = (alias: string, start: string, end: string) =>
  `${alias}.bucket = p_bucket AND ${alias}.key >= ${start} AND ${alias}.key < ${end}`;

/** The first keys from `start`: each key with versions has a current object or delete marker. */
const keysFrom = (record: string, limit: string) => `
            (SELECT o.key, ${record} AS record FROM store.objects o
              WHERE ${inRange("o", "start", "p_end")} ORDER BY o.key LIMIT ${limit})
            UNION ALL (SELECT h.key, NULL FROM store.history h
              WHERE ${inRange("h", "start", "p_end")} AND h.until = 'Infinity' ORDER BY h.key LIMIT ${limit})`;

/** The record of an object in the row o, if it was current at the time. */
const currentAt = "CASE WHEN coalesce(o.since, store.uploaded(o.record)) <= p_time THEN o.record END";

/** The record in the history that was current at the time: of all that ended later, the oldest. */
const earlierAt = (key: string) => `FROM store.history h
              WHERE h.bucket = p_bucket AND h.key = ${key} AND h.shown_until > p_time
              ORDER BY h.shown_until, h.entry LIMIT 1`;
const shownRecord = "CASE WHEN h.since <= p_time AND NOT h.is_marker THEN h.record END";

/** Sets `cut`, and for a key with the delimiter `folder`, and `start` to the first key after both. */
const cutKey = `cut := position(p_delimiter IN substring(found_key FROM length(p_prefix) + 1));
        IF cut > 0 THEN
          folder := substring(found_key FOR length(p_prefix) + cut - 1 + length(p_delimiter));
          start := set_byte(folder, length(folder) - 1, get_byte(folder, length(folder) - 1) + 1);
        ELSE
          folder := NULL;
          start := found_key || '\\x00'::bytea;
        END IF;`;

const objectsAt = `
  -- Objects that were current at a time: of each key, the current object or one lookup in the
  -- history. A batch of keys with few results is followed by one twice as large.
  CREATE FUNCTION store.objects_at(
    p_bucket bigint, p_time double precision, p_from bytea, p_end bytea, p_limit integer
  ) RETURNS TABLE (key bytea, record text) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    start bytea := p_from;
    batch integer := p_limit;
    remaining integer := p_limit;
    found_count integer;
  BEGIN
    LOOP
      RETURN QUERY SELECT found.key, found.record FROM (
          SELECT k.key, coalesce(k.record, (SELECT ${shownRecord} ${earlierAt("k.key")})) AS record
            FROM (${keysFrom(currentAt, "batch")} ORDER BY 1 LIMIT batch) k OFFSET 0
        ) found WHERE found.record IS NOT NULL LIMIT remaining;
      GET DIAGNOSTICS found_count = ROW_COUNT;
      remaining := remaining - found_count;
      EXIT WHEN remaining = 0;
      SELECT k.key INTO start FROM (${keysFrom("NULL", "batch + 1")}) k ORDER BY 1 OFFSET batch LIMIT 1;
      EXIT WHEN start IS NULL;
      batch := least(batch * 2, 16384);
    END LOOP;
  END $$;

  -- Like store.list_folders, of the objects that were current at a time. After a folder, reads one
  -- key, because the other keys of the next folder are skipped; after an object, reads batches.
  CREATE FUNCTION store.list_folders_at(
    p_bucket bigint, p_prefix bytea, p_delimiter bytea, p_from bytea, p_end bytea, p_limit integer,
    p_octets bigint, p_time double precision
  ) RETURNS TABLE (folder bytea, record text) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    start bytea := p_from;
    found_key bytea;
    marker_key bytea;
    cut integer := 1;
    octets bigint := 0;
    batch integer;
    batch_count integer;
    remaining integer := p_limit;
  BEGIN
    WHILE remaining > 0 AND octets < p_octets LOOP
      batch := CASE WHEN cut > 0 THEN 1 ELSE least(batch * 4, remaining) END;
      IF batch = 1 THEN
        -- Separate lookups: one statement for all would cost twice as much.
        SELECT o.key, ${currentAt} INTO found_key, record FROM store.objects o
          WHERE ${inRange("o", "start", "p_end")} ORDER BY o.key LIMIT 1;
        SELECT h.key INTO marker_key FROM store.history h
          WHERE ${inRange("h", "start", "coalesce(found_key, p_end)")} AND h.until = 'Infinity' ORDER BY h.key LIMIT 1;
        IF FOUND THEN
          found_key := marker_key;
          record := NULL;
        END IF;
        EXIT WHEN found_key IS NULL;
        IF record IS NULL THEN SELECT ${shownRecord} INTO record ${earlierAt("found_key")}; END IF;
      END IF;
      IF batch = 1 AND record IS NOT NULL THEN
        ${cutKey}
        IF cut > 0 THEN record := NULL; ELSE octets := octets + octet_length(record); END IF;
        remaining := remaining - 1;
        RETURN NEXT;
        CONTINUE;
      END IF;
      batch_count := 0;
      FOR found_key, record IN SELECT a.key, a.record FROM store.objects_at(p_bucket, p_time, start, p_end, batch) a LOOP
        batch_count := batch_count + 1;
        ${cutKey}
        IF cut > 0 THEN record := NULL; ELSE octets := octets + octet_length(record); END IF;
        remaining := remaining - 1;
        RETURN NEXT;
        EXIT WHEN cut > 0 OR remaining = 0 OR octets >= p_octets;
      END LOOP;
      EXIT WHEN batch_count < batch AND (batch_count = 0 OR cut = 0);
    END LOOP;
  END $$;
`;

const versionColumns = "record, is_marker, until";

const versions = `
  -- Versions in key order, the newest first: of p_key those before an entry, then all versions of
  -- the keys from p_from. p_shown is the column shown_until of that entry.
  CREATE FUNCTION store.versions_from(
    p_bucket bigint, p_key bytea, p_shown double precision, p_entry bigint, p_from bytea, p_end bytea, p_limit integer
  ) RETURNS TABLE (
    key bytea, shown double precision, entry bigint, record text, is_marker boolean, until double precision
  ) LANGUAGE sql STABLE AS $$
    (SELECT h.key, h.shown_until, h.entry, ${versionColumns} FROM store.history h
        WHERE h.bucket = p_bucket AND h.key = p_key AND (h.shown_until, h.entry) < (p_shown, p_entry)
        ORDER BY h.shown_until DESC, h.entry DESC LIMIT p_limit)
    UNION ALL (SELECT o.key, 'Infinity', ${currentEntry}, record, false, 'Infinity' FROM store.objects o
        WHERE ${inRange("o", "p_from", "p_end")} ORDER BY o.key LIMIT p_limit)
    UNION ALL (SELECT h.key, h.shown_until, h.entry, ${versionColumns} FROM store.history h
        WHERE ${inRange("h", "p_from", "p_end")} ORDER BY h.key, h.shown_until DESC, h.entry DESC LIMIT p_limit)
    ORDER BY 1, 2 DESC, 3 DESC LIMIT p_limit
  $$;

  -- Starts after one version of a key (NULL: no such version), then at p_from. If that version is
  -- gone, starts at the newest version of the key. After a folder, looks for the next key first.
  CREATE FUNCTION store.list_versions(
    p_bucket bigint, p_prefix bytea, p_delimiter bytea, p_from bytea, p_end bytea, p_limit integer,
    p_after_key bytea, p_after_version text
  ) RETURNS TABLE (folder bytea, record text, is_marker boolean, until double precision)
    LANGUAGE plpgsql STABLE AS $$
  DECLARE
    start bytea := p_from;
    resumed_key bytea;
    found_key bytea;
    found_shown double precision;
    found_entry bigint;
    cut integer := 0;
    batch integer := p_limit;
    batch_count integer;
    remaining integer := p_limit;
  BEGIN
    IF p_after_version IS NOT NULL THEN
      SELECT f.shown, f.entry INTO found_shown, found_entry
        FROM store.find_version(p_bucket, p_after_key, p_after_version) f;
      IF FOUND THEN resumed_key := p_after_key; ELSE start := p_after_key; END IF;
    END IF;
    WHILE remaining > 0 LOOP
      IF cut > 0 THEN
        SELECT k.key INTO found_key FROM (${keysFrom("NULL", "1")}) k ORDER BY 1 LIMIT 1;
        EXIT WHEN NOT FOUND;
        ${cutKey}
        IF cut > 0 THEN
          remaining := remaining - 1;
          RETURN NEXT;
          CONTINUE;
        END IF;
        start := found_key;
        batch := least(8, remaining);
      END IF;
      batch_count := 0;
      FOR found_key, found_shown, found_entry, record, is_marker, until IN
          SELECT v.key, v.shown, v.entry, v.record, v.is_marker, v.until FROM store.versions_from(
            p_bucket, resumed_key, found_shown, found_entry, start, p_end, batch) v LOOP
        batch_count := batch_count + 1;
        IF length(p_delimiter) > 0 THEN
          ${cutKey}
          IF cut > 0 THEN record := NULL; END IF;
        END IF;
        remaining := remaining - 1;
        RETURN NEXT;
        EXIT WHEN cut > 0 OR remaining = 0;
      END LOOP;
      EXIT WHEN cut = 0 AND batch_count < batch;
      resumed_key := CASE WHEN cut > 0 THEN NULL ELSE found_key END;
      IF cut = 0 THEN start := found_key || '\\x00'::bytea; END IF;
      batch := least(batch * 4, remaining);
    END LOOP;
  END $$;

  -- Returns the place of a version in the order of its key. No row if the version does not exist.
  CREATE FUNCTION store.find_version(p_bucket bigint, p_key bytea, p_version text)
    RETURNS TABLE (shown double precision, entry bigint) LANGUAGE sql STABLE AS $$
    SELECT 'Infinity'::double precision, ${currentEntry} FROM store.objects WHERE bucket = p_bucket AND key = p_key
        AND (version = p_version OR (p_version = 'null' AND is_versioned IS NOT TRUE))
    UNION ALL SELECT h.shown_until, h.entry FROM store.history h
      WHERE bucket = p_bucket AND key = p_key AND version = p_version
    UNION ALL SELECT h.shown_until, h.entry FROM store.history h
      WHERE bucket = p_bucket AND key = p_key AND NOT is_versioned AND p_version = 'null'
    LIMIT 1
  $$;
`;

export const versionListings = `${objectsAt}${versions}`;
