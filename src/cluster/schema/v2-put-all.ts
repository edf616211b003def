// Schema version 2: concurrent puts into one bucket share one call, because a transaction and a
// round trip cost more than a row. store.put stays for processes of schema version 1.

export const putAllFunctions = `
  -- Puts an object if its version is p_seen ('' for no object, NULL for no check); otherwise
  -- returns false. It needs no lock: after a wait for another change, it sees the changed row.
  CREATE FUNCTION store.put_over(
    p_bucket bigint, p_key bytea, p_seen text,
    p_version text, p_size bigint, p_record text, p_inline bytea, p_blob text, p_stored bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    old_blob text;
    old_manifest bigint;
  BEGIN
    IF p_seen = '' THEN
      INSERT INTO store.objects (bucket, key, version, size, blob, stored, record, inline)
        VALUES (p_bucket, p_key, p_version, p_size, p_blob, p_stored, p_record, p_inline) ON CONFLICT DO NOTHING;
    ELSIF p_seen IS NULL THEN
      INSERT INTO store.objects AS o (bucket, key, version, size, blob, stored, record, inline)
        VALUES (p_bucket, p_key, p_version, p_size, p_blob, p_stored, p_record, p_inline)
        ON CONFLICT (bucket, key) DO UPDATE SET
          version = excluded.version, size = excluded.size, blob = excluded.blob, stored = excluded.stored,
          manifest = NULL, record = excluded.record, inline = excluded.inline,
          was_blob = o.blob, was_manifest = o.manifest
        RETURNING was_blob, was_manifest INTO old_blob, old_manifest;
    ELSE
      UPDATE store.objects SET
          version = p_version, size = p_size, blob = p_blob, stored = p_stored, manifest = NULL,
          record = p_record, inline = p_inline, was_blob = blob, was_manifest = manifest
        WHERE bucket = p_bucket AND key = p_key AND version = p_seen
        RETURNING was_blob, was_manifest INTO old_blob, old_manifest;
    END IF;
    IF NOT FOUND THEN RETURN false; END IF;
    IF p_blob IS NOT NULL THEN PERFORM store.name_blob(p_bucket, p_blob); END IF;
    IF old_blob IS NOT NULL OR old_manifest IS NOT NULL THEN
      PERFORM store.bury(p_bucket, old_blob, old_manifest);
    END IF;
    RETURN true;
  END $$;

  -- All or nothing. The keys are sorted, so that two calls cannot deadlock. p_bytes has the key and
  -- the inline body of each put, one after the other.
  CREATE FUNCTION store.put_all(
    p_session bigint, p_number bigint, p_bucket text,
    p_seen text[], p_versions text[], p_sizes bigint[], p_records text[], p_blobs text[], p_stored bigint[],
    p_key_lengths integer[], p_inline_lengths integer[], p_bytes bytea
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint := store.enter(p_bucket);
    place integer := 1;
    one_key bytea;
    one_inline bytea;
  BEGIN
    IF bucket_id IS NULL THEN RETURN 'no bucket'; END IF;
    FOR i IN 1..cardinality(p_versions) LOOP
      one_key := substring(p_bytes FROM place FOR p_key_lengths[i]);
      place := place + p_key_lengths[i];
      one_inline := substring(p_bytes FROM place FOR p_inline_lengths[i]);
      place := place + coalesce(p_inline_lengths[i], 0);
      CONTINUE WHEN store.put_over(
        bucket_id, one_key, p_seen[i], p_versions[i], p_sizes[i], p_records[i], one_inline, p_blobs[i], p_stored[i]);
      -- Nothing has changed yet: a result avoids an error in the server's log.
      IF i = 1 THEN RETURN 'conflict'; END IF;
      RAISE EXCEPTION 'one of them met another version' USING ERRCODE = 'ST001';
    END LOOP;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;
