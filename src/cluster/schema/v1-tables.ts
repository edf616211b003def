// The tables of schema version 1. Keys are bytes; text is ordered and compared byte by byte.
// Times are seconds of the database's clock (store.clock): clocks of machines are never compared.
//
// objects:   the body is in one of inline, blob and manifest. was_… is the body that the last put
//            replaced: an upsert can only return columns of the new row.
// blobs:     every blob that a commit has named and whose bytes are not removed yet.
// intents:   blobs that are being written and that no commit has named yet.
// dead:      bodies that no record names any more, whose bytes are not removed yet (garbage).
// remains:   leftovers of failed writes; removed again when no more bytes of them can arrive.
// gone:      deleted buckets that may still have bytes.
// processes: running processes; `reading` is the time of the oldest read in flight.
// sessions:  one per connection, with its last commit number. A fenced session cannot commit.
//
// Rows of intents, blobs, dead and remains are inserted and deleted, never updated: one table with
// a state column would lose concurrent changes of the state.
export const tables = `
  CREATE TABLE store.buckets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    created double precision NOT NULL,
    storage_class text NOT NULL,
    account text NOT NULL,
    cors text,
    lifecycle text
  );
  CREATE TABLE store.objects (
    bucket bigint NOT NULL,
    key bytea NOT NULL,
    version text NOT NULL,
    size bigint NOT NULL,
    blob text,
    stored bigint,
    manifest bigint,
    was_blob text,
    was_manifest bigint,
    record text NOT NULL,
    inline bytea,
    PRIMARY KEY (bucket, key)
  );
  ALTER TABLE store.objects ALTER COLUMN inline SET STORAGE EXTERNAL;
  CREATE TABLE store.manifests (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parts text NOT NULL);
  CREATE TABLE store.uploads (
    bucket bigint NOT NULL,
    key bytea NOT NULL,
    id text COLLATE "C" NOT NULL,
    is_active boolean NOT NULL,
    due double precision NOT NULL,
    revision bigint NOT NULL,
    record text NOT NULL,
    PRIMARY KEY (bucket, key, id)
  );
  CREATE UNIQUE INDEX uploads_id ON store.uploads (bucket, id);
  CREATE INDEX uploads_due ON store.uploads (bucket, due);
  CREATE TABLE store.parts (
    bucket bigint NOT NULL,
    upload text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    blob text NOT NULL,
    was_blob text,
    record text NOT NULL,
    PRIMARY KEY (bucket, upload, number)
  );
  CREATE TABLE store.blobs (name text COLLATE "C" PRIMARY KEY, bucket bigint NOT NULL);
  CREATE TABLE store.intents (
    name text COLLATE "C" PRIMARY KEY,
    bucket bigint NOT NULL,
    process bigint NOT NULL
  );
  CREATE INDEX intents_process ON store.intents (process);
  CREATE TABLE store.dead (
    entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bucket bigint NOT NULL,
    blob text,
    manifest bigint
  );
  CREATE INDEX dead_bucket ON store.dead (bucket, entry);
  CREATE TABLE store.remains (
    name text COLLATE "C" PRIMARY KEY,
    bucket bigint NOT NULL,
    since double precision NOT NULL
  );
  CREATE INDEX remains_since ON store.remains (since);
  CREATE TABLE store.gone (bucket bigint PRIMARY KEY);
  CREATE TABLE store.processes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    beat double precision NOT NULL,
    reading double precision
  );
  CREATE TABLE store.sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    process bigint NOT NULL,
    last bigint NOT NULL,
    is_fenced boolean NOT NULL DEFAULT false
  ) WITH (fillfactor = 50);
  CREATE INDEX sessions_process ON store.sessions (process);
  CREATE SEQUENCE store.revisions;
  CREATE TABLE store.documents (
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (kind, name)
  );
  -- Never earlier than a heartbeat: after a failover, the clock of the new primary may be behind.
  CREATE FUNCTION store.clock() RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT greatest(extract(epoch FROM clock_timestamp())::double precision, (SELECT max(beat) FROM store.processes))
  $$;
`;
