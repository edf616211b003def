// SQL fragments of functions in several schema versions. Released fragments never change.

/** Distinguishes Store's advisory locks from others in the same database. */
export const lockClass = 7_311_002;

/** Checks in the body of store.holds. */
export const objectCheck = `    IF p_check->>'kind' = 'object' THEN
      SELECT version INTO found_version FROM store.objects WHERE bucket = p_bucket AND key = p_key FOR UPDATE;
      RETURN found_version IS NOT DISTINCT FROM p_check->>'version';
    END IF;
`;
export const uploadCheck = `    SELECT is_active, revision INTO found_active, found_revision FROM store.uploads
      WHERE bucket = p_bucket AND key = p_key AND id = p_check->>'id' FOR UPDATE;
    RETURN coalesce(found_active, false)
      AND coalesce((p_check->>'revision')::bigint, found_revision) = found_revision;
`;

/** CASE branches of store.apply. */
export const objectCases = `      WHEN 'put object' THEN PERFORM store.put_object(p_bucket, m, p_key, p_inline, p_is_new);
      WHEN 'restate object' THEN
        UPDATE store.objects SET record = m->>'record' WHERE bucket = p_bucket AND key = p_key;
      WHEN 'delete object' THEN PERFORM store.delete_object(p_bucket, p_key);
      WHEN 'put upload' THEN PERFORM store.put_upload(p_bucket, m, p_key);
      WHEN 'delete upload' THEN
        PERFORM store.end_parts(p_bucket, m->>'id', '[]');
        DELETE FROM store.uploads WHERE bucket = p_bucket AND key = p_key AND id = m->>'id';
      WHEN 'put part' THEN PERFORM store.put_part(p_bucket, m);
      WHEN 'end parts' THEN PERFORM store.end_parts(p_bucket, m->>'upload', m->'taken');
`;
export const settingCases = `      WHEN 'cors' THEN UPDATE store.buckets SET cors = m->>'text' WHERE id = p_bucket;
      WHEN 'lifecycle' THEN UPDATE store.buckets SET lifecycle = m->>'text' WHERE id = p_bucket;
`;

/** Start of the body of store.delete_bucket. */
export const deleteContents = `    PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(p_name));
    SELECT id INTO bucket_id FROM store.buckets WHERE name = p_name;
    IF NOT FOUND THEN RETURN 'missing'; END IF;
    IF EXISTS (SELECT FROM store.objects WHERE bucket = bucket_id) THEN RETURN 'not empty'; END IF;
    WITH ended AS (DELETE FROM store.parts WHERE bucket = bucket_id RETURNING blob)
      INSERT INTO store.dead (bucket, blob) SELECT bucket_id, blob FROM ended;
    DELETE FROM store.uploads WHERE bucket = bucket_id;
`;
