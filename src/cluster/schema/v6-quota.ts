// Schema version 6: quotas. A bucket with a quota, or of an account with one, has a row in store.usage
// that each commit locks first and updates. Other buckets are not counted and pay nothing.
import { lockClass } from "./shared-fragments.ts";

const readBucket = `    SELECT id, versioning IS NOT NULL, coalesce(versioning, '') || ' ' || coalesce(lock_rules, ''),
        quota, is_counted
      INTO bucket_id, keeps_versions, protection, bucket_quota, counts FROM store.buckets WHERE name = p_bucket;
    IF NOT FOUND THEN RETURN 'no bucket'; END IF;
    IF protection <> p_protection THEN RETURN 'other protection'; END IF;
`;

const lockUsage = `    IF counts THEN
      SELECT * INTO used FROM store.usage WHERE bucket = bucket_id FOR UPDATE;
    END IF;
`;

const declarations = `    bucket_id bigint;
    keeps_versions boolean;
    protection text;
    bucket_quota text;
    counts boolean;
    used store.usage;
    added record;
`;

/** Runs the loop. A bucket with a quota undoes it if it exceeds the quota. */
const withinQuota = (loop: string) => `    IF bucket_quota IS NULL THEN
${loop}    ELSE
      BEGIN
${loop}        PERFORM store.check_quota(bucket_id, bucket_quota::jsonb, used);
      EXCEPTION WHEN SQLSTATE 'ST005' THEN RETURN 'over quota';
      END;
    END IF;
    IF counts THEN
      UPDATE store.usage SET bytes = used.bytes, objects = used.objects WHERE bucket = bucket_id;
    END IF;
`;

const countFunctions = `
  ALTER TABLE store.buckets ADD COLUMN is_counted boolean NOT NULL DEFAULT false;
  CREATE TABLE store.usage (
    bucket bigint PRIMARY KEY REFERENCES store.buckets (id) ON DELETE CASCADE,
    bytes bigint NOT NULL,
    objects bigint NOT NULL
  ) WITH (fillfactor = 50);

  -- Its caller has the exclusive lock of the bucket.
  CREATE FUNCTION store.count_bucket(p_bucket bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM store.usage WHERE bucket = p_bucket) THEN RETURN; END IF;
    INSERT INTO store.usage (bucket, bytes, objects)
      SELECT p_bucket, coalesce(sum(size), 0), count(*) FROM (
        SELECT size FROM store.objects WHERE bucket = p_bucket
        UNION ALL SELECT size FROM store.history WHERE bucket = p_bucket) all_versions;
    UPDATE store.buckets SET is_counted = true WHERE id = p_bucket;
  END $$;

  CREATE FUNCTION store.start_counting(p_session bigint, p_number bigint, p_name text) RETURNS text
    LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(p_name));
    SELECT id INTO bucket_id FROM store.buckets WHERE name = p_name;
    IF NOT FOUND THEN RETURN 'no bucket'; END IF;
    PERFORM store.count_bucket(bucket_id);
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;

  -- What a mutation will add, less what it will remove. Called before the mutation.
  CREATE FUNCTION store.usage_change(
    p_bucket bigint, p_kind text, p_key bytea, p_version text, p_is_versioned boolean, p_size bigint,
    OUT bytes bigint, OUT objects bigint
  ) LANGUAGE sql AS $$
    SELECT (CASE WHEN p_kind LIKE 'put %' THEN coalesce(p_size, 0) ELSE 0 END - coalesce(sum(size), 0))::bigint,
        (CASE WHEN p_kind LIKE 'put %' THEN 1 ELSE 0 END - count(*))::bigint FROM (
      SELECT size FROM store.objects WHERE bucket = p_bucket AND key = p_key AND CASE p_kind
          WHEN 'delete object' THEN true
          WHEN 'delete version' THEN version = p_version
          ELSE NOT p_is_versioned AND is_versioned IS NOT TRUE END
      UNION ALL
      SELECT size FROM store.history WHERE p_kind = 'delete version'
        AND bucket = p_bucket AND key = p_key AND version = p_version
      UNION ALL
      SELECT size FROM store.history WHERE p_kind LIKE 'put %' AND NOT p_is_versioned
        AND bucket = p_bucket AND key = p_key AND NOT is_versioned
    ) removed
  $$;

  -- ST005: the quota is exceeded. p_used is what the bucket contains after the change.
  CREATE FUNCTION store.check_quota(p_bucket bigint, p_quota jsonb, p_used store.usage) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    earlier store.usage;
  BEGIN
    SELECT * INTO earlier FROM store.usage WHERE bucket = p_bucket;
    IF (p_used.bytes > earlier.bytes AND p_used.bytes > (p_quota->>'bytes')::bigint)
        OR (p_used.objects > earlier.objects AND p_used.objects > (p_quota->>'objects')::bigint) THEN
      RAISE EXCEPTION 'the quota is exceeded' USING ERRCODE = 'ST005';
    END IF;
  END $$;
`;

const mutationLoop = `      FOR one IN SELECT value FROM jsonb_array_elements(p_mutations) LOOP
        one_key := substring(p_bytes FROM (one->'key'->>0)::integer + 1 FOR (one->'key'->>1)::integer);
        one_inline := substring(p_bytes FROM (one->'inline'->>0)::integer + 1 FOR (one->'inline'->>1)::integer);
        IF counts AND one->>'kind' = ANY (object_kinds) THEN
          added := store.usage_change(bucket_id, one->>'kind', one_key, one->>'version', one ? 'versioned',
            (one->>'size')::bigint);
          used.bytes := used.bytes + added.bytes;
          used.objects := used.objects + added.objects;
        END IF;
        IF keeps_versions THEN
          PERFORM store.apply_version(bucket_id, one, one_key, one_inline);
        ELSE
          PERFORM store.apply(bucket_id, one, one_key, one_inline, one_key = ANY (absent));
        END IF;
      END LOOP;
`;

const commit = `
  -- Results: as before, and 'over quota'. A change of the quota waits for all other commits.
  CREATE OR REPLACE FUNCTION store.commit(
    p_session bigint, p_number bigint, p_bucket text, p_checks jsonb, p_mutations jsonb, p_bytes bytea,
    p_protection text
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
${declarations}    one jsonb;
    one_key bytea;
    one_inline bytea;
    absent bytea[] := '{}';
    object_kinds text[] := '{put object,put copy,put marker,delete object,delete version}';
  BEGIN
    IF p_mutations @> '[{"kind": "versioning"}]' OR p_mutations @> '[{"kind": "lockRules"}]'
        OR p_mutations @> '[{"kind": "quota"}]' THEN
      PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(p_bucket));
    ELSE
      PERFORM pg_advisory_xact_lock_shared(${lockClass}, hashtext(p_bucket));
    END IF;
${readBucket}${lockUsage}    IF keeps_versions AND p_protection IS NOT NULL THEN
      PERFORM store.lock_keys(bucket_id, array_agg(
          substring(p_bytes FROM (value->'key'->>0)::integer + 1 FOR (value->'key'->>1)::integer)))
        FROM jsonb_array_elements(p_checks || p_mutations) WHERE value ? 'key';
    END IF;
    FOR one IN SELECT value FROM jsonb_array_elements(p_checks) LOOP
      one_key := substring(p_bytes FROM (one->'key'->>0)::integer + 1 FOR (one->'key'->>1)::integer);
      IF NOT store.holds(bucket_id, one, one_key) THEN RETURN 'conflict'; END IF;
      IF one->>'kind' = 'object' AND NOT one ? 'version' THEN absent := absent || one_key; END IF;
    END LOOP;
    -- Deletes and delete markers are never refused.
    IF NOT (p_mutations @> '[{"kind": "put object"}]' OR p_mutations @> '[{"kind": "put copy"}]') THEN
      bucket_quota := NULL;
    END IF;
${withinQuota(mutationLoop)}    IF p_mutations @> '[{"kind": "quota"}]' THEN
      IF (SELECT quota IS NULL FROM store.buckets WHERE id = bucket_id) THEN
        UPDATE store.buckets SET is_counted = false WHERE id = bucket_id;
        DELETE FROM store.usage WHERE bucket = bucket_id;
      ELSE
        PERFORM store.count_bucket(bucket_id);
      END IF;
    END IF;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;

const putLoop = `      FOR i IN 1..cardinality(p_versions) LOOP
        one_key := substring(p_bytes FROM place FOR p_key_lengths[i]);
        place := place + p_key_lengths[i];
        one_inline := substring(p_bytes FROM place FOR p_inline_lengths[i]);
        place := place + coalesce(p_inline_lengths[i], 0);
        IF counts THEN
          added := store.usage_change(bucket_id, 'put object', one_key, NULL,
            keeps_versions AND p_versioned[i], p_sizes[i]);
          used.bytes := used.bytes + added.bytes;
          used.objects := used.objects + added.objects;
        END IF;
        IF keeps_versions THEN
          is_done := store.put_version_over(bucket_id, one_key, p_seen[i], p_versions[i], p_since[i],
            p_versioned[i], p_sizes[i], p_records[i], one_inline, p_blobs[i], p_stored[i]);
        ELSE
          is_done := store.put_over(bucket_id, one_key, p_seen[i], p_versions[i], p_sizes[i], p_records[i],
            one_inline, p_blobs[i], p_stored[i]);
        END IF;
        CONTINUE WHEN is_done;
        -- Nothing has changed yet: a result avoids an error in the server's log.
        IF i = 1 THEN RETURN 'conflict'; END IF;
        RAISE EXCEPTION 'one of them met another version' USING ERRCODE = 'ST001';
      END LOOP;
`;

const putAll = `
  -- All or nothing. The keys are sorted, so that two calls cannot deadlock. p_bytes has the key and
  -- the inline body of each put, one after the other. p_since and p_versioned are NULL without versioning.
  CREATE OR REPLACE FUNCTION store.put_all(
    p_session bigint, p_number bigint, p_bucket text,
    p_seen text[], p_versions text[], p_sizes bigint[], p_records text[], p_blobs text[], p_stored bigint[],
    p_key_lengths integer[], p_inline_lengths integer[], p_bytes bytea,
    p_protection text, p_since double precision[], p_versioned boolean[]
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
${declarations}    place integer := 1;
    keys bytea[] := '{}';
    one_key bytea;
    one_inline bytea;
    is_done boolean;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(${lockClass}, hashtext(p_bucket));
${readBucket}${lockUsage}    IF keeps_versions THEN
      FOR i IN 1..cardinality(p_versions) LOOP
        keys := keys || substring(p_bytes FROM place FOR p_key_lengths[i]);
        place := place + p_key_lengths[i] + coalesce(p_inline_lengths[i], 0);
      END LOOP;
      PERFORM store.lock_keys(bucket_id, keys);
      place := 1;
    END IF;
${withinQuota(putLoop)}    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;

export const quotas = [countFunctions, commit, putAll].join("\n");
