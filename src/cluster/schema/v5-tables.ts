// The tables of schema version 5: the versions of objects that are not current, and further settings.
//
// history:      noncurrent versions and every delete marker, also a current one (until = infinity).
//               `entry` orders the versions of a key; an object that is current again loses its row.
//               A time shows the version with since <= time < shown_until: shown_until is the least
//               "since" of all newer versions, so it has the order of the entries.
// shared_blobs: one row for each version that names a blob in addition to the first one. Rows are
//               inserted and deleted, never updated.
// key_locks:    a commit to a versioned bucket locks the rows that its keys hash to. Advisory locks
//               would fill PostgreSQL's lock table if a change had a thousand keys.

/** Number of rows in store.key_locks, a power of two. */
export const keyLockCount = 16_384;

/** Stands for a current object among entries of the history: it is newer than all of them. */
export const currentEntry = "9223372036854775807";

/** Columns `since` and `is_versioned` of objects are null in buckets without versioning. */
export const historyTables = `
  ALTER TABLE store.buckets ADD COLUMN versioning text, ADD COLUMN object_lock text,
    ADD COLUMN lock_rules text, ADD COLUMN tags text;
  ALTER TABLE store.objects ADD COLUMN since double precision, ADD COLUMN is_versioned boolean;
  CREATE TABLE store.history (
    bucket bigint NOT NULL,
    entry bigint GENERATED ALWAYS AS IDENTITY,
    key bytea NOT NULL,
    version text COLLATE "C" NOT NULL,
    is_versioned boolean NOT NULL,
    is_marker boolean NOT NULL,
    since double precision NOT NULL,
    until double precision NOT NULL,
    shown_until double precision NOT NULL,
    size bigint NOT NULL,
    blob text,
    stored bigint,
    manifest bigint,
    record text NOT NULL,
    inline bytea,
    PRIMARY KEY (bucket, entry)
  );
  ALTER TABLE store.history ALTER COLUMN inline SET STORAGE EXTERNAL;
  CREATE UNIQUE INDEX history_key ON store.history (bucket, key, shown_until DESC, entry DESC);
  CREATE UNIQUE INDEX history_current ON store.history (bucket, key) WHERE until = 'Infinity';
  CREATE INDEX history_version ON store.history (bucket, key, version);
  CREATE UNIQUE INDEX history_null ON store.history (bucket, key) WHERE NOT is_versioned;
  CREATE TABLE store.shared_blobs (
    entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bucket bigint NOT NULL,
    name text COLLATE "C" NOT NULL
  );
  CREATE INDEX shared_blobs_name ON store.shared_blobs (bucket, name);
  CREATE TABLE store.key_locks (slot integer PRIMARY KEY);
  INSERT INTO store.key_locks SELECT generate_series(0, ${keyLockCount - 1});
`;
