// What the third schema adds: events that are still to be delivered, and further settings of a bucket.
//
// outbox: an entry's number is taken when the object's row is locked already, so events of one key are numbered in the
// order of its commits. Others may be seen in another order than they are numbered: who delivers begins at the first
// there is, each time, and never goes on behind a number.
//
// Processes of the second schema know no rules and tell no events: they are to be replaced before the first rule is set.
import { lockClass } from "./v1-commit.ts";

export const outbox = `
  ALTER TABLE store.buckets ADD COLUMN notifications text, ADD COLUMN publication text;
  CREATE TABLE store.outbox (
    entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bucket bigint NOT NULL,
    rule text COLLATE "C" NOT NULL,
    event text NOT NULL
  );
  CREATE INDEX outbox_rule ON store.outbox (bucket, rule, entry);

  -- With a key, only if there is an object of that key; it is locked, so that of two who delete it at once one tells.
  CREATE FUNCTION store.tell(p_bucket bigint, m jsonb, p_key bytea) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF m ? 'key' THEN
      PERFORM FROM store.objects WHERE bucket = p_bucket AND key = p_key FOR UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
    END IF;
    INSERT INTO store.outbox (bucket, rule, event) VALUES (p_bucket, m->>'rule', m->>'event');
  END $$;

  CREATE OR REPLACE FUNCTION store.apply(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea, p_is_new boolean)
    RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    CASE m->>'kind'
      WHEN 'put object' THEN PERFORM store.put_object(p_bucket, m, p_key, p_inline, p_is_new);
      WHEN 'restate object' THEN
        UPDATE store.objects SET record = m->>'record' WHERE bucket = p_bucket AND key = p_key;
      WHEN 'delete object' THEN PERFORM store.delete_object(p_bucket, p_key);
      WHEN 'put upload' THEN PERFORM store.put_upload(p_bucket, m, p_key);
      WHEN 'delete upload' THEN
        PERFORM store.end_parts(p_bucket, m->>'id', '[]');
        DELETE FROM store.uploads WHERE bucket = p_bucket AND key = p_key AND id = m->>'id';
      WHEN 'put part' THEN PERFORM store.put_part(p_bucket, m);
      WHEN 'end parts' THEN PERFORM store.end_parts(p_bucket, m->>'upload', m->'taken');
      WHEN 'tell' THEN PERFORM store.tell(p_bucket, m, p_key);
      WHEN 'cors' THEN UPDATE store.buckets SET cors = m->>'text' WHERE id = p_bucket;
      WHEN 'lifecycle' THEN UPDATE store.buckets SET lifecycle = m->>'text' WHERE id = p_bucket;
      WHEN 'notifications' THEN UPDATE store.buckets SET notifications = m->>'text' WHERE id = p_bucket;
      WHEN 'publication' THEN UPDATE store.buckets SET publication = m->>'text' WHERE id = p_bucket;
    END CASE;
  END $$;

  -- What is dead of it stays in the table of the dead, for the collector; what it was to tell goes with it.
  CREATE OR REPLACE FUNCTION store.delete_bucket(p_session bigint, p_number bigint, p_name text)
    RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(p_name));
    SELECT id INTO bucket_id FROM store.buckets WHERE name = p_name;
    IF NOT FOUND THEN RETURN 'missing'; END IF;
    IF EXISTS (SELECT FROM store.objects WHERE bucket = bucket_id) THEN RETURN 'not empty'; END IF;
    WITH ended AS (DELETE FROM store.parts WHERE bucket = bucket_id RETURNING blob)
      INSERT INTO store.dead (bucket, blob) SELECT bucket_id, blob FROM ended;
    DELETE FROM store.uploads WHERE bucket = bucket_id;
    DELETE FROM store.outbox WHERE bucket = bucket_id;
    DELETE FROM store.buckets WHERE id = bucket_id;
    INSERT INTO store.gone (bucket) VALUES (bucket_id);
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;
