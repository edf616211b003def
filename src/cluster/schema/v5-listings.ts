// Schema version 5: listings of versions, and of the objects that were current at a time. All are
// STABLE, so that their lookups see one snapshot.

const inRange = (alias: string, start: string, end: string) =>
  `${alias}.bucket = p_bucket AND ${alias}.key >= ${start} AND ${alias}.key < ${end}`;

/** Row number of a current object, which is newer than every row of the history. */
const currentEntry = "9223372036854775807";

const objectsAt = `
  -- Objects that were current at a time, from bounded windows of keys: a window with few of them
  -- costs as much as another, and the next one is twice as large.
  CREATE FUNCTION store.objects_at(
    p_bucket bigint, p_time double precision, p_from bytea, p_end bytea, p_limit integer
  ) RETURNS TABLE (key bytea, record text) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    start bytea := p_from;
    stop bytea;
    history_stop bytea;
    width integer := p_limit;
    remaining integer := p_limit;
    found_count integer;
  BEGIN
    WHILE remaining > 0 AND start < p_end LOOP
      SELECT o.key INTO stop FROM store.objects o WHERE ${inRange("o", "start", "p_end")}
        ORDER BY o.key OFFSET width LIMIT 1;
      stop := coalesce(stop, p_end);
      SELECT h.key INTO history_stop FROM store.history h WHERE ${inRange("h", "start", "stop")}
        ORDER BY h.key OFFSET width * 16 LIMIT 1;
      -- A window has at least one key with all its versions.
      stop := CASE WHEN history_stop = start THEN start || '\\x00' ELSE coalesce(history_stop, stop) END;
      RETURN QUERY SELECT coalesce(c.key, e.key), coalesce(c.record, e.record) FROM (
          SELECT o.key, o.record FROM store.objects o
            WHERE ${inRange("o", "start", "stop")} AND coalesce(o.since, store.uploaded(o.record)) <= p_time
        ) c FULL JOIN (
          SELECT newest.key, h.record FROM (
            SELECT DISTINCT ON (i.key) i.key, i.entry, i.is_marker FROM store.history i
              WHERE ${inRange("i", "start", "stop")} AND i.since <= p_time ORDER BY i.key, i.entry DESC
          ) newest JOIN store.history h ON h.bucket = p_bucket AND h.entry = newest.entry
          WHERE NOT newest.is_marker
        ) e ON e.key = c.key ORDER BY 1 LIMIT remaining;
      GET DIAGNOSTICS found_count = ROW_COUNT;
      remaining := remaining - found_count;
      start := stop;
      width := least(width * 2, 16384);
    END LOOP;
  END $$;

  -- Like store.list_folders, of the objects that were current at a time.
  CREATE FUNCTION store.list_folders_at(
    p_bucket bigint, p_prefix bytea, p_delimiter bytea, p_from bytea, p_end bytea, p_limit integer,
    p_octets bigint, p_time double precision
  ) RETURNS TABLE (folder bytea, record text) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    place bytea := p_from;
    found_key bytea;
    cut integer;
    octets bigint := 0;
    -- One row after a folder, whose other keys are skipped; more after an object.
    batch integer := 1;
    batch_count integer;
    remaining integer := p_limit;
  BEGIN
    WHILE remaining > 0 AND octets < p_octets LOOP
      batch_count := 0;
      FOR found_key, record IN SELECT a.key, a.record FROM store.objects_at(p_bucket, p_time, place, p_end, batch) a LOOP
        batch_count := batch_count + 1;
        cut := position(p_delimiter IN substring(found_key FROM length(p_prefix) + 1));
        IF cut > 0 THEN
          folder := substring(found_key FOR length(p_prefix) + cut - 1 + length(p_delimiter));
          record := NULL;
          place := set_byte(folder, length(folder) - 1, get_byte(folder, length(folder) - 1) + 1);
        ELSE
          folder := NULL;
          octets := octets + octet_length(record);
          place := found_key || '\\x00'::bytea;
        END IF;
        remaining := remaining - 1;
        RETURN NEXT;
        EXIT WHEN cut > 0 OR remaining = 0 OR octets >= p_octets;
      END LOOP;
      EXIT WHEN batch_count < batch AND (batch_count = 0 OR cut = 0);
      batch := CASE WHEN cut > 0 THEN 1 ELSE least(batch * 4, remaining) END;
    END LOOP;
  END $$;
`;

const versionColumns = "record, is_marker, until";

const versions = `
  -- Versions in key order, the newest first: of p_key those before the entry p_below, then all
  -- versions of the keys from p_from.
  CREATE FUNCTION store.versions_from(
    p_bucket bigint, p_key bytea, p_below bigint, p_from bytea, p_end bytea, p_limit integer
  ) RETURNS TABLE (key bytea, entry bigint, record text, is_marker boolean, until double precision)
    LANGUAGE sql STABLE AS $$
    (SELECT h.key, h.entry, ${versionColumns} FROM store.history h
        WHERE h.bucket = p_bucket AND h.key = p_key AND h.entry < p_below ORDER BY h.entry DESC LIMIT p_limit)
    UNION ALL (SELECT o.key, ${currentEntry}, record, false, 'Infinity' FROM store.objects o
        WHERE ${inRange("o", "p_from", "p_end")} ORDER BY o.key LIMIT p_limit)
    UNION ALL (SELECT h.key, h.entry, ${versionColumns} FROM store.history h
        WHERE ${inRange("h", "p_from", "p_end")} ORDER BY h.key, h.entry DESC LIMIT p_limit)
    ORDER BY 1, 2 DESC LIMIT p_limit
  $$;

  -- Starts after one version of a key (NULL: no such version), then at p_from. If that version is
  -- gone, starts at the newest version of the key.
  CREATE FUNCTION store.list_versions(
    p_bucket bigint, p_prefix bytea, p_delimiter bytea, p_from bytea, p_end bytea, p_limit integer,
    p_after_key bytea, p_after_version text
  ) RETURNS TABLE (folder bytea, record text, is_marker boolean, until double precision)
    LANGUAGE plpgsql STABLE AS $$
  DECLARE
    place bytea := p_from;
    resumed_key bytea;
    below bigint;
    found_key bytea;
    found_entry bigint;
    cut integer := 0;
    batch integer := p_limit;
    batch_count integer;
    remaining integer := p_limit;
  BEGIN
    IF p_after_version IS NOT NULL THEN
      below := store.find_entry(p_bucket, p_after_key, p_after_version);
      IF below IS NULL THEN place := p_after_key; ELSE resumed_key := p_after_key; END IF;
    END IF;
    WHILE remaining > 0 LOOP
      batch_count := 0;
      FOR found_key, found_entry, record, is_marker, until IN SELECT v.key, v.entry, v.record, v.is_marker, v.until
          FROM store.versions_from(p_bucket, resumed_key, below, place, p_end, batch) v LOOP
        batch_count := batch_count + 1;
        folder := NULL;
        IF length(p_delimiter) > 0 THEN
          cut := position(p_delimiter IN substring(found_key FROM length(p_prefix) + 1));
        END IF;
        IF cut > 0 THEN
          folder := substring(found_key FOR length(p_prefix) + cut - 1 + length(p_delimiter));
          record := NULL;
        END IF;
        remaining := remaining - 1;
        RETURN NEXT;
        EXIT WHEN cut > 0 OR remaining = 0;
      END LOOP;
      EXIT WHEN cut = 0 AND batch_count < batch;
      EXIT WHEN batch_count = 0;
      IF cut > 0 THEN
        place := set_byte(folder, length(folder) - 1, get_byte(folder, length(folder) - 1) + 1);
        resumed_key := NULL;
        batch := 1;
      ELSE
        resumed_key := found_key;
        below := found_entry;
        place := found_key || '\\x00'::bytea;
        batch := least(batch * 4, remaining);
      END IF;
    END LOOP;
  END $$;

  -- Returns the row of a version in the order of its key. NULL if the version does not exist.
  CREATE FUNCTION store.find_entry(p_bucket bigint, p_key bytea, p_version text) RETURNS bigint
    LANGUAGE sql STABLE AS $$
    SELECT ${currentEntry} FROM store.objects WHERE bucket = p_bucket AND key = p_key
        AND (version = p_version OR (p_version = 'null' AND is_versioned IS NOT TRUE))
    UNION ALL SELECT entry FROM store.history WHERE bucket = p_bucket AND key = p_key AND version = p_version
    UNION ALL SELECT entry FROM store.history
      WHERE bucket = p_bucket AND key = p_key AND NOT is_versioned AND p_version = 'null'
    LIMIT 1
  $$;
`;

export const versionListings = `${objectsAt}${versions}`;
