// Schema version 5: commits check the protection of the bucket, and keep versions where versioning
// is or was on. The functions of earlier signatures serve processes that are not yet replaced.
import {
  deleteContents,
  lockClass,
  objectCases,
  objectCheck,
  settingCases,
  uploadCheck,
} from "./shared-fragments.ts";

// p_protection is the protection that the caller saw, as text; NULL if the change does not depend
// on it. Results: also 'other protection', if the bucket has another one; then nothing was applied.
const readBucket = `    SELECT id, versioning IS NOT NULL, coalesce(versioning, '') || ' ' || coalesce(lock_rules, '')
      INTO bucket_id, keeps_versions, protection FROM store.buckets WHERE name = p_bucket;
    IF NOT FOUND THEN RETURN 'no bucket'; END IF;
    IF protection <> p_protection THEN RETURN 'other protection'; END IF;
`;

const refusal = `    IF outcome = 'other protection' THEN
      RAISE EXCEPTION 'this bucket is versioned or has lock rules: replace this server by a newer version of Store';
    END IF;
    RETURN outcome;
`;

const changeFunctions = `
  CREATE OR REPLACE FUNCTION store.holds(p_bucket bigint, p_check jsonb, p_key bytea) RETURNS boolean
    LANGUAGE plpgsql AS $$
  DECLARE
    found_version text;
    found_revision bigint;
    found_active boolean;
    found_setting text;
    found_record text;
  BEGIN
${objectCheck}    IF p_check->>'kind' = 'version' THEN
      SELECT record INTO found_record FROM store.objects
        WHERE bucket = p_bucket AND key = p_key AND version = p_check->>'version' FOR UPDATE;
      IF NOT FOUND THEN
        SELECT record INTO found_record FROM store.history
          WHERE bucket = p_bucket AND key = p_key AND version = p_check->>'version' FOR UPDATE;
      END IF;
      RETURN coalesce(found_record = p_check->>'record', false);
    END IF;
    IF p_check->>'kind' = 'setting' THEN
      SELECT CASE p_check->>'name'
          WHEN 'cors' THEN cors WHEN 'lifecycle' THEN lifecycle
          WHEN 'notifications' THEN notifications WHEN 'publication' THEN publication
          WHEN 'versioning' THEN versioning WHEN 'objectLock' THEN object_lock
          WHEN 'lockRules' THEN lock_rules WHEN 'tags' THEN tags END
        INTO found_setting FROM store.buckets WHERE id = p_bucket FOR NO KEY UPDATE;
      RETURN found_setting IS NOT DISTINCT FROM p_check->>'text';
    END IF;
${uploadCheck}  END $$;

  -- Mutations that do not depend on versioning, and those of objects in a bucket without versioning.
  CREATE OR REPLACE FUNCTION store.apply(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea, p_is_new boolean)
    RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    CASE m->>'kind'
${objectCases}      WHEN 'tell' THEN PERFORM store.tell(p_bucket, m, p_key);
${settingCases}      WHEN 'notifications' THEN UPDATE store.buckets SET notifications = m->>'text' WHERE id = p_bucket;
      WHEN 'publication' THEN UPDATE store.buckets SET publication = m->>'text' WHERE id = p_bucket;
      WHEN 'versioning' THEN UPDATE store.buckets SET versioning = m->>'text' WHERE id = p_bucket;
      WHEN 'objectLock' THEN UPDATE store.buckets SET object_lock = m->>'text' WHERE id = p_bucket;
      WHEN 'lockRules' THEN UPDATE store.buckets SET lock_rules = m->>'text' WHERE id = p_bucket;
      WHEN 'tags' THEN UPDATE store.buckets SET tags = m->>'text' WHERE id = p_bucket;
      -- Without "since", because later puts of this bucket do not set that column.
      WHEN 'put copy' THEN PERFORM store.put_copy(p_bucket, m - 'since', p_key);
      WHEN 'delete version' THEN PERFORM store.delete_version(p_bucket, p_key, m->>'version');
    END CASE;
  END $$;

  -- Like store.apply, in a bucket whose versioning is or was on.
  CREATE FUNCTION store.apply_version(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    new_manifest bigint;
  BEGIN
    CASE m->>'kind'
      WHEN 'put object' THEN
        IF m ? 'blob' THEN PERFORM store.name_blob(p_bucket, m->>'blob'); END IF;
        IF m ? 'manifest' THEN
          INSERT INTO store.manifests (parts) VALUES (m->>'manifest') RETURNING id INTO new_manifest;
        END IF;
        PERFORM store.put_version(p_bucket, p_key, m->>'version', (m->>'since')::double precision,
          m ? 'versioned', (m->>'size')::bigint, m->>'blob', (m->>'stored')::bigint, new_manifest,
          m->>'record', p_inline);
      WHEN 'put copy' THEN PERFORM store.put_copy(p_bucket, m, p_key);
      WHEN 'put marker' THEN PERFORM store.put_marker(p_bucket, m, p_key);
      WHEN 'restate object' THEN PERFORM store.restate_version(p_bucket, m, p_key);
      WHEN 'delete object' THEN RAISE EXCEPTION 'an object of a versioned bucket needs a delete marker';
      ELSE PERFORM store.apply(p_bucket, m, p_key, p_inline, false);
    END CASE;
  END $$;
`;

export const protectedCommits = `${changeFunctions}
  -- All bytes are in p_bytes; "key" and "inline" are [offset, length] in it. A change of the
  -- protection waits for all other commits, so that none of them commits under the old one later.
  CREATE FUNCTION store.commit(
    p_session bigint, p_number bigint, p_bucket text, p_checks jsonb, p_mutations jsonb, p_bytes bytea,
    p_protection text
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
    keeps_versions boolean;
    protection text;
    one jsonb;
    one_key bytea;
    one_inline bytea;
    absent bytea[] := '{}';
  BEGIN
    IF p_mutations @> '[{"kind": "versioning"}]' OR p_mutations @> '[{"kind": "lockRules"}]' THEN
      PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(p_bucket));
    ELSE
      PERFORM pg_advisory_xact_lock_shared(${lockClass}, hashtext(p_bucket));
    END IF;
${readBucket}    IF keeps_versions AND p_protection IS NOT NULL THEN
      PERFORM store.lock_keys(bucket_id, array_agg(
          substring(p_bytes FROM (value->'key'->>0)::integer + 1 FOR (value->'key'->>1)::integer)))
        FROM jsonb_array_elements(p_checks || p_mutations) WHERE value ? 'key';
    END IF;
    FOR one IN SELECT value FROM jsonb_array_elements(p_checks) LOOP
      one_key := substring(p_bytes FROM (one->'key'->>0)::integer + 1 FOR (one->'key'->>1)::integer);
      IF NOT store.holds(bucket_id, one, one_key) THEN RETURN 'conflict'; END IF;
      IF one->>'kind' = 'object' AND NOT one ? 'version' THEN absent := absent || one_key; END IF;
    END LOOP;
    FOR one IN SELECT value FROM jsonb_array_elements(p_mutations) LOOP
      one_key := substring(p_bytes FROM (one->'key'->>0)::integer + 1 FOR (one->'key'->>1)::integer);
      one_inline := substring(p_bytes FROM (one->'inline'->>0)::integer + 1 FOR (one->'inline'->>1)::integer);
      IF keeps_versions THEN
        PERFORM store.apply_version(bucket_id, one, one_key, one_inline);
      ELSE
        PERFORM store.apply(bucket_id, one, one_key, one_inline, one_key = ANY (absent));
      END IF;
    END LOOP;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;

  -- Like store.put_over, in a bucket whose versioning is or was on.
  CREATE FUNCTION store.put_version_over(
    p_bucket bigint, p_key bytea, p_seen text, p_version text, p_since double precision,
    p_is_versioned boolean, p_size bigint, p_record text, p_inline bytea, p_blob text, p_stored bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    found_version text;
  BEGIN
    IF p_seen IS NOT NULL THEN
      SELECT version INTO found_version FROM store.objects WHERE bucket = p_bucket AND key = p_key;
      IF p_seen <> coalesce(found_version, '') THEN RETURN false; END IF;
    END IF;
    IF p_blob IS NOT NULL THEN PERFORM store.name_blob(p_bucket, p_blob); END IF;
    PERFORM store.put_version(p_bucket, p_key, p_version, p_since, p_is_versioned,
      p_size, p_blob, p_stored, NULL, p_record, p_inline);
    RETURN true;
  END $$;

  -- All or nothing. The keys are sorted, so that two calls cannot deadlock. p_bytes has the key and
  -- the inline body of each put, one after the other. p_since and p_versioned are NULL without versioning.
  CREATE FUNCTION store.put_all(
    p_session bigint, p_number bigint, p_bucket text,
    p_seen text[], p_versions text[], p_sizes bigint[], p_records text[], p_blobs text[], p_stored bigint[],
    p_key_lengths integer[], p_inline_lengths integer[], p_bytes bytea,
    p_protection text, p_since double precision[], p_versioned boolean[]
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
    keeps_versions boolean;
    protection text;
    place integer := 1;
    keys bytea[] := '{}';
    one_key bytea;
    one_inline bytea;
    is_done boolean;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(${lockClass}, hashtext(p_bucket));
${readBucket}    IF keeps_versions THEN
      FOR i IN 1..cardinality(p_versions) LOOP
        keys := keys || substring(p_bytes FROM place FOR p_key_lengths[i]);
        place := place + p_key_lengths[i] + coalesce(p_inline_lengths[i], 0);
      END LOOP;
      PERFORM store.lock_keys(bucket_id, keys);
      place := 1;
    END IF;
    FOR i IN 1..cardinality(p_versions) LOOP
      one_key := substring(p_bytes FROM place FOR p_key_lengths[i]);
      place := place + p_key_lengths[i];
      one_inline := substring(p_bytes FROM place FOR p_inline_lengths[i]);
      place := place + coalesce(p_inline_lengths[i], 0);
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
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;

// Processes of earlier schema versions know no versions: they may only write to other buckets.
export const earlierCommits = `
  CREATE OR REPLACE FUNCTION store.commit(
    p_session bigint, p_number bigint, p_bucket text, p_checks jsonb, p_mutations jsonb, p_bytes bytea
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    outcome text := store.commit(p_session, p_number, p_bucket, p_checks, p_mutations, p_bytes, ' ');
  BEGIN
${refusal}  END $$;

  CREATE OR REPLACE FUNCTION store.put_all(
    p_session bigint, p_number bigint, p_bucket text,
    p_seen text[], p_versions text[], p_sizes bigint[], p_records text[], p_blobs text[], p_stored bigint[],
    p_key_lengths integer[], p_inline_lengths integer[], p_bytes bytea
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    outcome text := store.put_all(p_session, p_number, p_bucket, p_seen, p_versions, p_sizes, p_records,
      p_blobs, p_stored, p_key_lengths, p_inline_lengths, p_bytes, ' ', NULL, NULL);
  BEGIN
${refusal}  END $$;

  CREATE OR REPLACE FUNCTION store.put(
    p_session bigint, p_number bigint, p_bucket text, p_key bytea, p_seen text,
    p_version text, p_size bigint, p_record text, p_inline bytea, p_blob text, p_stored bigint
  ) RETURNS text LANGUAGE sql AS $$
    SELECT store.put_all(p_session, p_number, p_bucket, ARRAY[p_seen], ARRAY[p_version], ARRAY[p_size],
      ARRAY[p_record], ARRAY[p_blob], ARRAY[p_stored], ARRAY[length(p_key)], ARRAY[length(p_inline)],
      p_key || coalesce(p_inline, ''))
  $$;

  -- The bucket's garbage stays in store.dead for the collector; undelivered events are removed.
  CREATE OR REPLACE FUNCTION store.delete_bucket(p_session bigint, p_number bigint, p_name text)
    RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(p_name));
    IF EXISTS (SELECT FROM store.buckets b JOIN store.history h ON h.bucket = b.id WHERE b.name = p_name) THEN
      RETURN 'not empty';
    END IF;
${deleteContents}    DELETE FROM store.outbox WHERE bucket = bucket_id;
    DELETE FROM store.buckets WHERE id = bucket_id;
    INSERT INTO store.gone (bucket) VALUES (bucket_id);
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;
