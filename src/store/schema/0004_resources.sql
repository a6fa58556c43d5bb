-- ------------------------------------------------------------------ Resources

-- a piece of a content, kept once whatever holds it
CREATE TABLE chunk (
  sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  bytes BLOB NOT NULL
) STRICT;

-- a content: its pieces by name, mostly as what differs from another content
CREATE TABLE content (
  sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),   -- of the whole resolved list
  base TEXT REFERENCES content(sha256), depth INTEGER NOT NULL CHECK (depth BETWEEN 0 AND 64),
  parts TEXT NOT NULL CHECK (json_valid(parts)),                  -- name, and chunk, size and media type, or nothing where it is gone
  CHECK ((base IS NULL) = (depth = 0))
) STRICT;
CREATE INDEX content_base ON content (base);

-- what people and agents edit together
CREATE TABLE resource (
  id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL CHECK (length(name) > 0),
  task TEXT REFERENCES task(id),                    -- NULL: it is everybody's
  mirror TEXT UNIQUE,                               -- the file it is tied to
  revision INTEGER NOT NULL CHECK (revision >= 0),
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, updated_by TEXT NOT NULL REFERENCES actor(id)
) STRICT;
CREATE UNIQUE INDEX resource_name ON resource (coalesce(task, ''), name);

-- accepted states of a Resource, 0..revision without gaps
CREATE TABLE revision (
  resource TEXT NOT NULL REFERENCES resource(id), number INTEGER NOT NULL CHECK (number >= 0), base INTEGER,
  content TEXT NOT NULL REFERENCES content(sha256), size INTEGER NOT NULL,
  actor TEXT NOT NULL REFERENCES actor(id),         -- who wrote it
  accepted_by TEXT REFERENCES actor(id), candidate TEXT UNIQUE REFERENCES candidate(id),
  summary TEXT NOT NULL, digest TEXT NOT NULL CHECK (json_valid(digest)),   -- what is told to others of it
  at INTEGER NOT NULL, PRIMARY KEY (resource, number),
  CHECK (base IS NULL AND number = 0 OR base = number - 1), CHECK ((accepted_by IS NULL) = (candidate IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TRIGGER revision_follows BEFORE INSERT ON revision
WHEN NEW.base IS NOT (SELECT max(number) FROM revision WHERE resource = NEW.resource)
BEGIN SELECT RAISE(ABORT, 'revision_conflict'); END;
CREATE TRIGGER revision_stays BEFORE UPDATE ON revision BEGIN SELECT RAISE(ABORT, 'append_only'); END;

-- a proposal kept apart: a Subagent's, or an edit whose base went stale
CREATE TABLE candidate (
  id TEXT NOT NULL PRIMARY KEY, resource TEXT NOT NULL REFERENCES resource(id), base INTEGER NOT NULL,
  content TEXT NOT NULL REFERENCES content(sha256), size INTEGER NOT NULL, actor TEXT NOT NULL REFERENCES actor(id),
  state TEXT NOT NULL CHECK (state IN ('draft','submitted','conflict','accepted','rejected','withdrawn','rebased')),
  summary TEXT NOT NULL, digest TEXT NOT NULL CHECK (json_valid(digest)),
  because TEXT, settled_by TEXT REFERENCES actor(id), revision INTEGER,
  rebased_to TEXT REFERENCES candidate(id) DEFERRABLE INITIALLY DEFERRED, at INTEGER NOT NULL,
  CHECK ((state = 'accepted') = (revision IS NOT NULL)), CHECK (revision IS NULL OR revision = base + 1),
  CHECK ((state = 'rebased') = (rebased_to IS NOT NULL)),
  CHECK ((state IN ('draft','submitted','conflict')) = (settled_by IS NULL))
) STRICT;
CREATE INDEX candidate_open ON candidate (resource) WHERE settled_by IS NULL;

-- which revision an actor knows, and what it has selected
CREATE TABLE resource_view (
  actor TEXT NOT NULL REFERENCES actor(id), resource TEXT NOT NULL REFERENCES resource(id),
  seen INTEGER NOT NULL, selection TEXT CHECK (json_valid(selection)), PRIMARY KEY (actor, resource)
) STRICT, WITHOUT ROWID;
CREATE INDEX resource_view_of ON resource_view (resource);

-- an edit that an engine is asked for: recorded before, settled after
CREATE TABLE engine_intent (
  id TEXT NOT NULL PRIMARY KEY, resource TEXT NOT NULL REFERENCES resource(id), base INTEGER NOT NULL,
  actor TEXT NOT NULL REFERENCES actor(id),
  operation TEXT NOT NULL CHECK (json_valid(operation)), request TEXT NOT NULL CHECK (json_valid(request)),
  state TEXT NOT NULL CHECK (state IN ('intent','done','failed','uncertain')),
  outcome TEXT CHECK (json_valid(outcome)), at INTEGER NOT NULL,
  CHECK ((state = 'intent') = (outcome IS NULL))
) STRICT;
CREATE INDEX engine_intent_open ON engine_intent (resource) WHERE state IN ('intent','uncertain');

-- must be empty after every commit, like fsck
CREATE VIEW fsck_resources AS
  SELECT 'F60' AS code, 'resource' AS entity, r.id AS id, 'its revisions are not exactly 0 to the one that stands' AS detail FROM resource r
    WHERE r.revision IS NOT (SELECT max(number) FROM revision v WHERE v.resource = r.id)
       OR r.revision + 1 <> (SELECT count(*) FROM revision v WHERE v.resource = r.id)
  UNION ALL SELECT 'F61','candidate',c.id,'accepted without its revision' FROM candidate c
    WHERE c.state = 'accepted' AND NOT EXISTS (
      SELECT 1 FROM revision v WHERE v.resource = c.resource AND v.number = c.revision AND v.candidate = c.id)
  UNION ALL SELECT 'F62','revision',v.resource || '@' || v.number,'is of a Candidate that is not accepted' FROM revision v
    JOIN candidate c ON c.id = v.candidate WHERE c.state <> 'accepted'
  UNION ALL SELECT 'F63','candidate',c.id,'is stale and not in conflict, or the reverse' FROM candidate c JOIN resource r ON r.id = c.resource
    WHERE c.state = 'submitted' AND c.base <> r.revision OR c.state = 'conflict' AND c.base >= r.revision
  UNION ALL SELECT 'F64','revision',v.resource || '@' || v.number,'was committed by a Subagent' FROM revision v JOIN agent g ON g.id = v.actor
    WHERE g.role = 'subagent' AND v.candidate IS NULL
  UNION ALL SELECT 'F65','resource_view',w.actor || ':' || w.resource,'knows a revision that does not exist' FROM resource_view w
    JOIN resource r ON r.id = w.resource WHERE w.seen > r.revision
  UNION ALL SELECT 'F66','content',t.sha256,'names a piece that is not there' FROM content t, json_each(t.parts) part
    WHERE part.value ->> '$.entry.blob' IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM chunk k WHERE k.sha256 = part.value ->> '$.entry.blob');
