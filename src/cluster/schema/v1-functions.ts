// The other functions of schema version 1: buckets, documents, dead processes, and listed folders.
import { deleteContents } from "./shared-fragments.ts";

export const bucketFunctions = `
  CREATE FUNCTION store.create_bucket(
    p_session bigint, p_number bigint, p_name text, p_created double precision, p_class text, p_account text
  ) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO store.buckets (name, created, storage_class, account)
      VALUES (p_name, p_created, p_class, p_account) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN 'taken'; END IF;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;

  -- The bucket's garbage stays in store.dead for the garbage collector.
  CREATE FUNCTION store.delete_bucket(p_session bigint, p_number bigint, p_name text)
    RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    bucket_id bigint;
  BEGIN
${deleteContents}    DELETE FROM store.buckets WHERE id = bucket_id;
    INSERT INTO store.gone (bucket) VALUES (bucket_id);
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;

export const documentFunctions = `
  CREATE FUNCTION store.put_document(
    p_session bigint, p_number bigint, p_kind text, p_name text, p_text text, p_seen bigint
  ) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    IF p_seen IS NULL THEN
      INSERT INTO store.documents (kind, name, revision, text)
        VALUES (p_kind, p_name, nextval('store.revisions'), p_text) ON CONFLICT DO NOTHING;
    ELSE
      UPDATE store.documents SET text = p_text, revision = nextval('store.revisions')
        WHERE kind = p_kind AND name = p_name AND revision = p_seen;
    END IF;
    IF NOT FOUND THEN RETURN 'conflict'; END IF;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;

  CREATE FUNCTION store.delete_document(p_session bigint, p_number bigint, p_kind text, p_name text)
    RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM store.documents WHERE kind = p_kind AND name = p_name;
    IF NOT FOUND THEN RETURN 'missing'; END IF;
    PERFORM store.attest(p_session, p_number);
    RETURN 'committed';
  END $$;
`;

// A process and its sessions are removed in one transaction. Statements of that process that arrive
// later cannot commit, so its unfinished blobs never get a reference.
export const processFunctions = `
  CREATE FUNCTION store.end_process(p_process bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM store.sessions WHERE process = p_process;
    WITH gone AS (DELETE FROM store.intents WHERE process = p_process RETURNING name, bucket)
      INSERT INTO store.remains (name, bucket, since) SELECT name, bucket, store.clock() FROM gone;
  $$;

  -- Removes processes without a heartbeat for this long; returns the blobs that they were writing.
  CREATE FUNCTION store.end_silent(p_seconds double precision) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    process_id bigint;
    ended bigint := 0;
  BEGIN
    FOR process_id IN DELETE FROM store.processes WHERE beat < store.clock() - p_seconds RETURNING id LOOP
      PERFORM store.end_process(process_id);
      ended := ended + 1;
    END LOOP;
    RETURN ended;
  END $$;

  CREATE FUNCTION store.leave(p_process bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM store.processes WHERE id = p_process;
    PERFORM store.end_process(p_process);
  END $$;
`;

// Skips each folder with one index lookup, so a page costs one lookup per entry, no matter how many
// keys the folders contain. STABLE, so that all lookups see one snapshot.
export const listingFunctions = `
  CREATE FUNCTION store.list_folders(
    p_bucket bigint, p_prefix bytea, p_delimiter bytea, p_from bytea, p_end bytea, p_limit integer, p_octets bigint
  ) RETURNS TABLE (folder bytea, record text) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    place bytea := p_from;
    found_key bytea;
    cut integer;
    octets bigint := 0;
  BEGIN
    FOR i IN 1..p_limit LOOP
      EXIT WHEN octets >= p_octets;
      SELECT o.key INTO found_key FROM store.objects o
        WHERE o.bucket = p_bucket AND o.key >= place AND o.key < p_end ORDER BY o.key LIMIT 1;
      EXIT WHEN NOT FOUND;
      cut := position(p_delimiter IN substring(found_key FROM length(p_prefix) + 1));
      IF cut > 0 THEN
        folder := substring(found_key FOR length(p_prefix) + cut - 1 + length(p_delimiter));
        record := NULL;
        place := set_byte(folder, length(folder) - 1, get_byte(folder, length(folder) - 1) + 1);
      ELSE
        folder := NULL;
        SELECT o.record INTO record FROM store.objects o WHERE o.bucket = p_bucket AND o.key = found_key;
        octets := octets + octet_length(record);
        place := found_key || '\\x00'::bytea;
      END IF;
      RETURN NEXT;
    END LOOP;
  END $$;
`;
