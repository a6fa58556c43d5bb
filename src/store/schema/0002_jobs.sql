-- Jobs: commands that go on when everything else of ours has gone. What they print, and the record
-- of their end, lies in a folder of their own; here stands what was found out and told.
CREATE TABLE job (
  id TEXT NOT NULL PRIMARY KEY,
  origin TEXT NOT NULL UNIQUE,                      -- what asked for it: it is started once
  task TEXT REFERENCES task(id),                    -- NULL: a person's own
  actor TEXT NOT NULL REFERENCES actor(id),         -- who started it
  name TEXT NOT NULL, command TEXT NOT NULL CHECK (json_valid(command)), cwd TEXT NOT NULL,
  terminal INTEGER NOT NULL CHECK (terminal IN (0,1)),
  role TEXT NOT NULL,                               -- a service keeps no Task from being complete
  watch TEXT NOT NULL CHECK (json_valid(watch)),    -- output that is told when it comes
  levels TEXT NOT NULL CHECK (json_valid(levels)),  -- what is normal for it
  state TEXT NOT NULL CHECK (state IN ('starting','running','stopping','exited','signaled','failed_to_start','cancelled','uncertain')),
  process TEXT CHECK (json_valid(process)),         -- number, start and boot of command and shim: together an identity
  stop TEXT CHECK (json_valid(stop)),               -- how it was told to end
  note TEXT, matched_through INTEGER NOT NULL,
  breached TEXT NOT NULL CHECK (json_valid(breached)),  -- what was not normal: each is told once
  exit_code INTEGER, signal INTEGER,
  evidence TEXT,                                    -- what the end rests on
  reason TEXT, log_bytes INTEGER, last_output_at INTEGER, last_line TEXT,
  created_at INTEGER NOT NULL, ended_at INTEGER,
  CHECK ((state IN ('starting','running','stopping')) = (ended_at IS NULL)),
  CHECK ((evidence IS NULL) = (ended_at IS NULL)),
  CHECK (state NOT IN ('running','stopping') OR process IS NOT NULL),
  -- an end is never made up
  CHECK ((exit_code IS NOT NULL) = (state = 'exited')), CHECK ((signal IS NOT NULL) = (state = 'signaled')),
  CHECK (state NOT IN ('exited','signaled') OR evidence = 'exit_record'),
  CHECK (state <> 'uncertain' OR evidence IN ('gone_without_record','boot_changed','shim_lost')),
  CHECK (state <> 'failed_to_start' OR reason IS NOT NULL)
) STRICT;
CREATE INDEX job_live ON job (task) WHERE ended_at IS NULL;
CREATE INDEX job_task ON job (task);
CREATE INDEX job_created ON job (created_at);

DROP VIEW completion_blocker;
CREATE VIEW completion_blocker AS
  SELECT task, 'approval' AS blocker, id AS ref FROM approval WHERE state = 'pending'
  UNION ALL SELECT task, 'question', id FROM human_request WHERE state = 'open'
  UNION ALL SELECT task, 'run', id FROM run WHERE state IN ('running','interrupted')
  UNION ALL SELECT r.task, 'tool_call', c.id FROM tool_call c JOIN run r ON r.id = c.run WHERE c.result_seq IS NULL
  UNION ALL SELECT g.task, 'message', m.id FROM message m JOIN agent g ON g.id = m.to_actor
    WHERE g.role = 'main' AND m.state IN ('queued','delivered')
  UNION ALL SELECT task, 'check', id FROM acceptance_check WHERE state IN ('open','failed')
  UNION ALL SELECT task, 'job', id FROM job WHERE ended_at IS NULL AND role = 'work' AND task IS NOT NULL
  UNION ALL SELECT g.task, 'answer', g.id FROM agent g WHERE g.role = 'main' AND NOT EXISTS (
    SELECT 1 FROM trajectory t WHERE t.agent = g.id AND t.seq = g.next_seq - 1 AND t.role = 'assistant' AND t.n_tool_calls = 0 AND t.cut = 0);

-- Tasks whose Main is absent and has work; paused, awaiting_human and ended ones are left alone, and
-- what a restart of the machine did to a Job wakes nobody
DROP VIEW main_due;
CREATE VIEW main_due AS
  SELECT t.id AS task, t.main AS main FROM task t WHERE t.status IN ('active','parked')
    AND NOT EXISTS (SELECT 1 FROM run r WHERE r.agent = t.main AND r.state = 'running')
    AND (  EXISTS (SELECT 1 FROM run r WHERE r.agent = t.main AND r.state = 'interrupted')
        OR EXISTS (SELECT 1 FROM message m WHERE m.to_actor = t.main AND m.state = 'queued'
             AND NOT (m.kind = 'notice' AND EXISTS (SELECT 1 FROM actor a WHERE a.id = m.from_actor AND a.kind = 'job'))));

DROP VIEW needs_host;
CREATE VIEW needs_host AS
  SELECT 'run' AS why, id AS ref, task FROM run WHERE state = 'running'
  UNION ALL SELECT 'main_due', main, task FROM main_due
  UNION ALL SELECT 'control', id, task FROM control WHERE state = 'requested'
  UNION ALL SELECT 'job', id, name FROM job WHERE ended_at IS NULL;

-- must be empty after every commit, like fsck
CREATE VIEW fsck_jobs AS
  SELECT 'F26' AS code, 'job' AS entity, j.id, 'has ended, and its Task was not told exactly once' AS detail FROM job j
    WHERE j.task IS NOT NULL AND j.ended_at IS NOT NULL
      AND (SELECT count(*) FROM message m WHERE m.key = 'job:' || j.id || ':terminal') <> 1
  UNION ALL SELECT 'F27','job',j.id,'its end was told and it has not ended' FROM job j
    WHERE j.ended_at IS NULL AND EXISTS (SELECT 1 FROM message m WHERE m.key = 'job:' || j.id || ':terminal')
  UNION ALL SELECT 'F28','job',j.id,'was asked for by a call that is not there' FROM job j
    WHERE j.origin LIKE 'call:%' AND NOT EXISTS (SELECT 1 FROM tool_call c WHERE 'call:' || c.id = j.origin)
  UNION ALL SELECT 'F29','task',t.id,'is parked and nothing is awaited' FROM task t WHERE t.status = 'parked' AND NOT EXISTS (
      SELECT 1 FROM completion_blocker b WHERE b.task = t.id);

DROP VIEW fsck_warn;
CREATE VIEW fsck_warn AS
  SELECT 'W10' AS code, 'approval' AS entity, id, 'has waited for a person for more than a day' AS detail FROM approval
    WHERE state = 'pending' AND created_at < CAST(strftime('%s','now') AS INTEGER) * 1000 - 86400000
  UNION ALL SELECT 'W11','tool_call',id,'may have happened: its process died before the result was saved' FROM tool_call
    WHERE state = 'uncertain' AND ended_at > CAST(strftime('%s','now') AS INTEGER) * 1000 - 86400000
  UNION ALL SELECT 'W12','job',id,'is gone, and how it ended is not known' FROM job
    WHERE state = 'uncertain' AND ended_at > CAST(strftime('%s','now') AS INTEGER) * 1000 - 86400000;
