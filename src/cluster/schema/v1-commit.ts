// Commits as database functions, each one round trip and one transaction. store.attest records
// session and number: a lost outcome can be queried, and a fenced session cannot commit.
import { lockClass, objectCases, objectCheck, settingCases, uploadCheck } from "./shared-fragments.ts";

// Results: "committed" means that everything was applied; any other result means that nothing was.
// Errors: ST001 conflict, ST002 fenced session, ST003 missing blob intent, ST004 missing bucket.
export const commitFunctions = `
  CREATE FUNCTION store.attest(p_session bigint, p_number bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE store.sessions SET last = p_number WHERE id = p_session AND NOT is_fenced;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the session is fenced' USING ERRCODE = 'ST002';
    END IF;
  END $$;

  -- Returns the bucket's id and locks the bucket against deletion until the transaction ends.
  CREATE FUNCTION store.enter(p_bucket text) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(${lockClass}, hashtext(p_bucket));
    RETURN (SELECT id FROM store.buckets WHERE name = p_bucket);
  END $$;

  CREATE FUNCTION store.bury(p_bucket bigint, p_blob text, p_manifest bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF p_blob IS NOT NULL OR p_manifest IS NOT NULL THEN
      INSERT INTO store.dead (bucket, blob, manifest) VALUES (p_bucket, p_blob, p_manifest);
    END IF;
  END $$;

  -- A commit that names a blob needs the blob's intent; a process marked as dead has lost it.
  CREATE FUNCTION store.name_blob(p_bucket bigint, p_blob text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    blob_name text := split_part(p_blob, '.', 2);
  BEGIN
    IF split_part(p_blob, '.', 1) <> p_bucket::text THEN
      RAISE EXCEPTION 'the blob is of an earlier bucket' USING ERRCODE = 'ST004';
    END IF;
    DELETE FROM store.intents WHERE name = blob_name;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the intent is gone' USING ERRCODE = 'ST003';
    END IF;
    INSERT INTO store.blobs (name, bucket) VALUES (blob_name, p_bucket);
  END $$;

  -- Locks the row, so that the check holds until the commit. A missing row cannot be locked: a put
  -- of such a key inserts and never replaces.
  CREATE FUNCTION store.holds(p_bucket bigint, p_check jsonb, p_key bytea) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    found_version text;
    found_revision bigint;
    found_active boolean;
  BEGIN
${objectCheck}${uploadCheck}  END $$;

  CREATE FUNCTION store.put_object(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea, p_is_new boolean)
    RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    new_manifest bigint;
    old_blob text;
    old_manifest bigint;
  BEGIN
    IF m ? 'blob' THEN PERFORM store.name_blob(p_bucket, m->>'blob'); END IF;
    IF m ? 'manifest' THEN
      INSERT INTO store.manifests (parts) VALUES (m->>'manifest') RETURNING id INTO new_manifest;
    END IF;
    IF p_is_new THEN
      INSERT INTO store.objects (bucket, key, version, size, blob, stored, manifest, record, inline)
        VALUES (p_bucket, p_key, m->>'version', (m->>'size')::bigint, m->>'blob', (m->>'stored')::bigint,
          new_manifest, m->>'record', p_inline)
        ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'ST001'; END IF;
    ELSE
      INSERT INTO store.objects AS o (bucket, key, version, size, blob, stored, manifest, record, inline)
        VALUES (p_bucket, p_key, m->>'version', (m->>'size')::bigint, m->>'blob', (m->>'stored')::bigint,
          new_manifest, m->>'record', p_inline)
        ON CONFLICT (bucket, key) DO UPDATE SET
          version = excluded.version, size = excluded.size, blob = excluded.blob, stored = excluded.stored,
          manifest = excluded.manifest, record = excluded.record, inline = excluded.inline,
          was_blob = o.blob, was_manifest = o.manifest
        RETURNING was_blob, was_manifest INTO old_blob, old_manifest;
      PERFORM store.bury(p_bucket, old_blob, old_manifest);
    END IF;
  END $$;

  CREATE FUNCTION store.delete_object(p_bucket bigint, p_key bytea) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    old_blob text;
    old_manifest bigint;
  BEGIN
    DELETE FROM store.objects WHERE bucket = p_bucket AND key = p_key
      RETURNING blob, manifest INTO old_blob, old_manifest;
    PERFORM store.bury(p_bucket, old_blob, old_manifest);
  END $$;

  CREATE FUNCTION store.put_upload(p_bucket bigint, m jsonb, p_key bytea) RETURNS void LANGUAGE sql AS $$
    INSERT INTO store.uploads AS u (bucket, key, id, is_active, due, revision, record)
      VALUES (p_bucket, p_key, m->>'id', (m->>'active')::boolean, (m->>'due')::double precision, 1, m->>'record')
      ON CONFLICT (bucket, key, id) DO UPDATE SET
        is_active = excluded.is_active, due = excluded.due, record = excluded.record, revision = u.revision + 1
  $$;

  CREATE FUNCTION store.put_part(p_bucket bigint, m jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    old_blob text;
  BEGIN
    PERFORM store.name_blob(p_bucket, m->>'blob');
    INSERT INTO store.parts AS p (bucket, upload, number, blob, record)
      VALUES (p_bucket, m->>'upload', (m->>'number')::integer, m->>'blob', m->>'record')
      ON CONFLICT (bucket, upload, number) DO UPDATE SET
        blob = excluded.blob, record = excluded.record, was_blob = p.blob
      RETURNING was_blob INTO old_blob;
    PERFORM store.bury(p_bucket, old_blob, NULL);
    UPDATE store.uploads SET revision = revision + 1 WHERE bucket = p_bucket AND id = m->>'upload';
  END $$;

  CREATE FUNCTION store.end_parts(p_bucket bigint, p_upload text, p_taken jsonb) RETURNS void LANGUAGE sql AS $$
    WITH ended AS (DELETE FROM store.parts WHERE bucket = p_bucket AND upload = p_upload RETURNING number, blob)
    INSERT INTO store.dead (bucket, blob)
      SELECT p_bucket, blob FROM ended
        WHERE number NOT IN (SELECT value::integer FROM jsonb_array_elements_text(p_taken)) ORDER BY number
  $$;

  CREATE FUNCTION store.apply(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea, p_is_new boolean)
    RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    CASE m->>'kind'
${objectCases}${settingCases}    END CASE;
  END $$;

  -- Puts an object if its version is p_seen ('' for no object, NULL for no check). Uses few
  -- statements and no lock: after a wait for another change, it sees the changed row.
  CREATE FUNCTION store.put(
    p_session bigint, p_number bigint, p_bucket text, p_key bytea, p_seen text,
    p_version text, p_size bigint, p_record text, p_inline bytea, p_blob text, p_stored bigint
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
    old_blob text;
    old_manifest bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(${lockClass}, hashtext(p_bucket));
    IF p_seen = '' THEN
      INSERT INTO store.objects (bucket, key, version, size, blob, stored, record, inline)
        SELECT id, p_key, p_version, p_size, p_blob, p_stored, p_record, p_inline
          FROM store.buckets WHERE name = p_bucket
        ON CONFLICT DO NOTHING RETURNING bucket INTO bucket_id;
    ELSIF p_seen IS NULL THEN
      INSERT INTO store.objects AS o (bucket, key, version, size, blob, stored, record, inline)
        SELECT id, p_key, p_version, p_size, p_blob, p_stored, p_record, p_inline
          FROM store.buckets WHERE name = p_bucket
        ON CONFLICT (bucket, key) DO UPDATE SET
          version = excluded.version, size = excluded.size, blob = excluded.blob, stored = excluded.stored,
          manifest = NULL, record = excluded.record, inline = excluded.inline,
          was_blob = o.blob, was_manifest = o.manifest
        RETURNING bucket, was_blob, was_manifest INTO bucket_id, old_blob, old_manifest;
    ELSE
      UPDATE store.objects o SET
          version = p_version, size = p_size, blob = p_blob, stored = p_stored, manifest = NULL,
          record = p_record, inline = p_inline, was_blob = o.blob, was_manifest = o.manifest
        FROM store.buckets b
        WHERE b.name = p_bucket AND o.bucket = b.id AND o.key = p_key AND o.version = p_seen
        RETURNING o.bucket, o.was_blob, o.was_manifest INTO bucket_id, old_blob, old_manifest;
    END IF;
    IF bucket_id IS NULL THEN
      RETURN CASE WHEN EXISTS (SELECT FROM store.buckets WHERE name = p_bucket) THEN 'conflict' ELSE 'no bucket' END;
    END IF;
    IF p_blob IS NOT NULL THEN PERFORM store.name_blob(bucket_id, p_blob); END IF;
    IF old_blob IS NOT NULL OR old_manifest IS NOT NULL THEN
      PERFORM store.bury(bucket_id, old_blob, old_manifest);
    END IF;
    UPDATE store.sessions SET last = p_number WHERE id = p_session AND NOT is_fenced;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the session is fenced' USING ERRCODE = 'ST002';
    END IF;
    RETURN 'committed';
  END $$;

  -- All bytes are in p_bytes; "key" and "inline" are [offset, length] in it.
  CREATE FUNCTION store.commit(
    p_session bigint, p_number bigint, p_bucket text, p_checks jsonb, p_mutations jsonb, p_bytes bytea
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint := store.enter(p_bucket);
    one jsonb;
    one_key bytea;
    one_inline bytea;
    absent bytea[] := '{}';
  BEGIN
    IF bucket_id IS NULL THEN RETURN 'no bucket'; END IF;
    FOR one IN SELECT value FROM jsonb_array_elements(p_checks) LOOP
      one_key := substring(p_bytes FROM (one->'key'->>0)::integer + 1 FOR (one->'key'->>1)::integer);
      IF NOT store.holds(bucket_id, one, one_key) THEN RETURN 'conflict'; END IF;
      IF one->>'kind' = 'object' AND NOT one ? 'version' THEN absent := absent || one_key; END IF;
    END LOOP;
    FOR one IN SELECT value FROM jsonb_array_elements(p_mutations) LOOP
      one_key := substring(p_bytes FROM (one->'key'->>0)::integer + 1 FOR (one->'key'->>1)::integer);
      one_inline := substring(p_bytes FROM (one->'inline'->>0)::integer + 1 FOR (one->'inline'->>1)::integer);
      PERFORM store.apply(bucket_id, one, one_key, one_inline, one_key = ANY (absent));
    END LOOP;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;
