// Schema version 3: an outbox of undelivered events, and further settings of a bucket. Processes of
// schema version 2 create no events: upgrade them before the first rule is set.
import { deleteContents, objectCases, settingCases } from "./shared-fragments.ts";

// Entries of one key are numbered in commit order, because the object's row is locked. Entries of
// different keys may become visible out of order, so delivery always starts at the first entry.
export const outbox = `
  ALTER TABLE store.buckets ADD COLUMN notifications text, ADD COLUMN publication text;
  CREATE TABLE store.outbox (
    entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bucket bigint NOT NULL,
    rule text COLLATE "C" NOT NULL,
    event text NOT NULL
  );
  CREATE INDEX outbox_rule ON store.outbox (bucket, rule, entry);

  -- With a key, only if the object exists; the lock lets one of two concurrent deletes create it.
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
${objectCases}      WHEN 'tell' THEN PERFORM store.tell(p_bucket, m, p_key);
${settingCases}      WHEN 'notifications' THEN UPDATE store.buckets SET notifications = m->>'text' WHERE id = p_bucket;
      WHEN 'publication' THEN UPDATE store.buckets SET publication = m->>'text' WHERE id = p_bucket;
    END CASE;
  END $$;

  -- The bucket's garbage stays in store.dead for the collector; undelivered events are removed.
  CREATE OR REPLACE FUNCTION store.delete_bucket(p_session bigint, p_number bigint, p_name text)
    RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
  BEGIN
${deleteContents}    DELETE FROM store.outbox WHERE bucket = bucket_id;
    DELETE FROM store.buckets WHERE id = bucket_id;
    INSERT INTO store.gone (bucket) VALUES (bucket_id);
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;
