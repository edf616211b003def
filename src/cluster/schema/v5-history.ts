// Schema version 5: functions that change the versions of one key. Their caller has locked the key
// (store.lock_keys), or the bucket has no versions.
import { currentEntry, keyLockCount } from "./v5-tables.ts";

const bodyColumns = "size, blob, stored, manifest, record, inline";

export const historyFunctions = `
  -- Locks keys in the same order in every commit, so that two commits cannot deadlock.
  CREATE FUNCTION store.lock_keys(p_bucket bigint, p_keys bytea[]) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    slots integer[];
  BEGIN
    SELECT array_agg(DISTINCT (hashtextextended(encode(key, 'hex'), p_bucket) & ${keyLockCount - 1})::integer)
      INTO slots FROM unnest(p_keys) AS key;
    PERFORM FROM store.key_locks WHERE slot = ANY (slots) ORDER BY slot FOR UPDATE;
  END $$;

  -- The time of upload in an object's record, for rows without the column "since".
  CREATE FUNCTION store.uploaded(p_record text) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(
      substring(p_record FROM '^\\[1,"(?:[^"\\\\]|\\\\.)*","[^"]*",\\d+,(-?\\d[^,]*),')::double precision, 0)
  $$;

  -- A version no longer names this body: what no other version shares becomes garbage.
  CREATE FUNCTION store.release(p_bucket bigint, p_blob text, p_manifest bigint) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    unshared jsonb;
    shared_count bigint;
  BEGIN
    IF p_blob IS NOT NULL THEN
      DELETE FROM store.shared_blobs WHERE entry = (SELECT min(entry) FROM store.shared_blobs
        WHERE bucket = p_bucket AND name = split_part(p_blob, '.', 2));
      IF NOT FOUND THEN PERFORM store.bury(p_bucket, p_blob, NULL); END IF;
    ELSIF p_manifest IS NOT NULL THEN
      WITH parts AS MATERIALIZED (
        SELECT part, place, split_part(part->>2, '.', 2) AS name
          FROM store.manifests, jsonb_array_elements(parts::jsonb->1) WITH ORDINALITY AS elements (part, place)
          WHERE id = p_manifest
      ), ended AS (
        DELETE FROM store.shared_blobs WHERE entry IN (SELECT min(s.entry) FROM parts
          JOIN store.shared_blobs s ON s.bucket = p_bucket AND s.name = parts.name GROUP BY s.name) RETURNING name
      )
      SELECT jsonb_agg(part ORDER BY place) FILTER (WHERE ended.name IS NULL), count(ended.name)
        INTO unshared, shared_count FROM parts LEFT JOIN ended ON ended.name = parts.name;
      IF unshared IS NULL AND shared_count > 0 THEN
        DELETE FROM store.manifests WHERE id = p_manifest;
        RETURN;
      END IF;
      IF shared_count > 0 THEN
        UPDATE store.manifests SET parts = jsonb_build_array(1, unshared)::text WHERE id = p_manifest;
      END IF;
      PERFORM store.bury(p_bucket, NULL, p_manifest);
    END IF;
  END $$;

  -- A newer version follows: moves the current object to the history, or ends a current marker.
  -- The object's row stays, for the caller to replace.
  CREATE FUNCTION store.end_current(p_bucket bigint, p_key bytea, p_until double precision) RETURNS void
    LANGUAGE plpgsql AS $$
  BEGIN
    -- More than one row only if a clock went back.
    UPDATE store.history SET shown_until = p_until, until = CASE WHEN until < 'Infinity' THEN until ELSE p_until END
      WHERE bucket = p_bucket AND key = p_key AND shown_until > p_until;
    INSERT INTO store.history (bucket, key, version, is_versioned, is_marker, since, until, shown_until, ${bodyColumns})
      SELECT bucket, key, version, coalesce(is_versioned, false), false,
          coalesce(since, store.uploaded(record)), p_until, p_until, ${bodyColumns}
        FROM store.objects WHERE bucket = p_bucket AND key = p_key;
  END $$;

  -- The versions from p_entry are gone: an older one is shown until the least "since" of the others.
  CREATE FUNCTION store.show_older(p_bucket bigint, p_key bytea, p_entry bigint, p_until double precision)
    RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    least_since double precision := p_until;
    one record;
  BEGIN
    FOR one IN SELECT entry, since, shown_until FROM store.history
        WHERE bucket = p_bucket AND key = p_key AND entry < p_entry ORDER BY shown_until DESC, entry DESC LOOP
      EXIT WHEN one.shown_until = least_since;
      UPDATE store.history SET shown_until = least_since WHERE bucket = p_bucket AND entry = one.entry;
      least_since := least(least_since, one.since);
    END LOOP;
  END $$;

  -- p_since is that of the null version that follows.
  CREATE FUNCTION store.remove_null_version(p_bucket bigint, p_key bytea, p_since double precision) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    old_blob text;
    old_manifest bigint;
    old_entry bigint := ${currentEntry};
    old_end double precision := 'Infinity';
  BEGIN
    DELETE FROM store.objects WHERE bucket = p_bucket AND key = p_key AND is_versioned IS NOT TRUE
      RETURNING blob, manifest INTO old_blob, old_manifest;
    IF NOT FOUND THEN
      DELETE FROM store.history WHERE bucket = p_bucket AND key = p_key AND NOT is_versioned
        RETURNING blob, manifest, entry, shown_until INTO old_blob, old_manifest, old_entry, old_end;
      IF NOT FOUND THEN RETURN; END IF;
    END IF;
    PERFORM store.release(p_bucket, old_blob, old_manifest);
    PERFORM store.show_older(p_bucket, p_key, old_entry, least(old_end, p_since));
  END $$;

  CREATE FUNCTION store.put_version(
    p_bucket bigint, p_key bytea, p_version text, p_since double precision, p_is_versioned boolean,
    p_size bigint, p_blob text, p_stored bigint, p_manifest bigint, p_record text, p_inline bytea
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT p_is_versioned THEN PERFORM store.remove_null_version(p_bucket, p_key, p_since); END IF;
    PERFORM store.end_current(p_bucket, p_key, p_since);
    INSERT INTO store.objects (bucket, key, version, since, is_versioned, ${bodyColumns})
      VALUES (p_bucket, p_key, p_version, p_since, nullif(p_is_versioned, false),
        p_size, p_blob, p_stored, p_manifest, p_record, p_inline)
      ON CONFLICT (bucket, key) DO UPDATE SET
        version = excluded.version, since = excluded.since, is_versioned = excluded.is_versioned,
        size = excluded.size, blob = excluded.blob, stored = excluded.stored, manifest = excluded.manifest,
        record = excluded.record, inline = excluded.inline, was_blob = NULL, was_manifest = NULL;
  END $$;

  CREATE FUNCTION store.put_marker(p_bucket bigint, m jsonb, p_key bytea) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    new_since double precision := m->>'since';
  BEGIN
    IF NOT m ? 'versioned' THEN PERFORM store.remove_null_version(p_bucket, p_key, new_since); END IF;
    PERFORM store.end_current(p_bucket, p_key, new_since);
    DELETE FROM store.objects WHERE bucket = p_bucket AND key = p_key;
    INSERT INTO store.history (bucket, key, version, is_versioned, is_marker, since, until, shown_until, size, record)
      VALUES (p_bucket, p_key, m->>'version', m ? 'versioned', true, new_since, 'Infinity', 'Infinity', 0, m->>'record');
  END $$;

  -- Adds one reference to each blob before the null version, whose body it may be, is removed.
  CREATE FUNCTION store.put_copy(p_bucket bigint, m jsonb, p_key bytea) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    source record;
    new_manifest bigint;
  BEGIN
    SELECT blob, stored, manifest, inline INTO source FROM store.history h
      JOIN store.find_version(p_bucket, p_key, m->>'of') f ON h.bucket = p_bucket AND h.entry = f.entry
      WHERE NOT is_marker;
    IF NOT FOUND THEN
      SELECT blob, stored, manifest, inline INTO source FROM store.objects WHERE bucket = p_bucket AND key = p_key
        AND (version = m->>'of' OR (m->>'of' = 'null' AND is_versioned IS NOT TRUE));
    END IF;
    IF NOT FOUND THEN RAISE EXCEPTION 'the copied version is missing'; END IF;
    IF source.blob IS NOT NULL THEN
      INSERT INTO store.shared_blobs (bucket, name) VALUES (p_bucket, split_part(source.blob, '.', 2));
    ELSIF source.manifest IS NOT NULL THEN
      INSERT INTO store.manifests (parts) SELECT parts FROM store.manifests WHERE id = source.manifest
        RETURNING id INTO new_manifest;
      INSERT INTO store.shared_blobs (bucket, name) SELECT p_bucket, split_part(part->>2, '.', 2)
        FROM store.manifests, jsonb_array_elements(parts::jsonb->1) AS part WHERE id = new_manifest;
    END IF;
    PERFORM store.put_version(p_bucket, p_key, m->>'version', (m->>'since')::double precision, m ? 'versioned',
      (m->>'size')::bigint, source.blob, source.stored, new_manifest, m->>'record', source.inline);
  END $$;

  CREATE FUNCTION store.delete_version(p_bucket bigint, p_key bytea, p_version text) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    old_blob text;
    old_manifest bigint;
    old_entry bigint;
    old_until double precision := 'Infinity';
    old_end double precision;
  BEGIN
    DELETE FROM store.objects WHERE bucket = p_bucket AND key = p_key AND version = p_version
      RETURNING blob, manifest INTO old_blob, old_manifest;
    IF NOT FOUND THEN
      DELETE FROM store.history WHERE bucket = p_bucket AND key = p_key AND version = p_version
        RETURNING blob, manifest, entry, until, shown_until
        INTO old_blob, old_manifest, old_entry, old_until, old_end;
      IF NOT FOUND THEN RETURN; END IF;
    END IF;
    PERFORM store.release(p_bucket, old_blob, old_manifest);
    IF old_until < 'Infinity' THEN
      PERFORM store.show_older(p_bucket, p_key, old_entry, old_end);
    ELSE
      PERFORM store.make_newest_current(p_bucket, p_key);
    END IF;
  END $$;

  CREATE FUNCTION store.make_newest_current(p_bucket bigint, p_key bytea) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    newest record;
  BEGIN
    SELECT entry, since, is_marker INTO newest FROM store.history
      WHERE bucket = p_bucket AND key = p_key ORDER BY shown_until DESC, entry DESC LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    IF newest.is_marker THEN
      UPDATE store.history SET until = 'Infinity', shown_until = 'Infinity'
        WHERE bucket = p_bucket AND entry = newest.entry;
    ELSE
      WITH moved AS (DELETE FROM store.history WHERE bucket = p_bucket AND entry = newest.entry RETURNING *)
      INSERT INTO store.objects (bucket, key, version, since, is_versioned, ${bodyColumns})
        SELECT bucket, key, version, since, nullif(is_versioned, false), ${bodyColumns} FROM moved;
    END IF;
    PERFORM store.show_older(p_bucket, p_key, newest.entry, newest.since);
  END $$;

  CREATE FUNCTION store.restate_version(p_bucket bigint, m jsonb, p_key bytea) RETURNS void
    LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE store.objects SET record = m->>'record'
      WHERE bucket = p_bucket AND key = p_key AND version = m->>'version';
    IF NOT FOUND THEN
      UPDATE store.history SET record = m->>'record'
        WHERE bucket = p_bucket AND key = p_key AND version = m->>'version' AND NOT is_marker;
    END IF;
  END $$;
`;
