// The tables of the first schema. Keys are bytes; whatever is ordered or compared as text is so byte by byte.
// Times are seconds of the database's clock (store.clock), so that no two machines' clocks are ever compared.
//
// objects:   one of inline, blob and manifest says where the body is. was_… is what the last put replaced: an upsert can
//            only return columns of the row as it has become.
// blobs:     every blob that a commit has named and whose bytes are not removed yet.
// intents:   blobs that are being written and that no commit has named yet.
// dead:      bodies that no record names any more, whose bytes are still to be removed.
// remains:   what writes that came to nothing may have left; removed once more when nothing of them can still arrive.
// gone:      buckets that are deleted and of which there may still be bytes.
// processes: who is there; `reading` is how far back a read under way goes.
// sessions:  one for each connection that commits, with the number of its last commit. A fenced one commits no more.
//
// intents, blobs, dead and remains are only ever inserted into and deleted from: with one table and a state in it,
// concurrent changes of state lose track.
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
  -- Never behind a sign of life: the clock of a server that takes over may be.
  CREATE FUNCTION store.clock() RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT greatest(extract(epoch FROM clock_timestamp())::double precision, (SELECT max(beat) FROM store.processes))
  $$;
`;
