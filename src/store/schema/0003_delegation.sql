-- ------------------------------------------------------------------ delegation

-- a bounded part of a Task, given to a Subagent; work that is sent back is a further turn
CREATE TABLE assignment (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id), agent TEXT NOT NULL REFERENCES agent(id),
  parent TEXT NOT NULL REFERENCES agent(id),        -- who gave it and gets the Contribution
  turn INTEGER NOT NULL CHECK (turn >= 1),
  call TEXT UNIQUE REFERENCES tool_call(id),        -- the call that gave it: one call gives it once
  mode TEXT NOT NULL CHECK (mode IN ('sync','async')),   -- a sync call that was released goes on as async
  name TEXT NOT NULL, objective TEXT NOT NULL, objective_version INTEGER NOT NULL,
  contract TEXT NOT NULL CHECK (json_valid(contract)),   -- background, constraints, evidence, grant, budget, model
  state TEXT NOT NULL CHECK (state IN ('queued','running','blocked','completed','failed','cancelled')),
  usage TEXT NOT NULL CHECK (json_valid(usage)),
  created_at INTEGER NOT NULL, ended_at INTEGER,
  UNIQUE (agent, turn), CHECK ((state IN ('completed','failed','cancelled')) = (ended_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX assignment_one_live ON assignment (agent) WHERE ended_at IS NULL;
CREATE INDEX assignment_task ON assignment (task, state);

-- what came of it: exactly one, born with its end
CREATE TABLE contribution (
  id TEXT NOT NULL PRIMARY KEY, assignment TEXT NOT NULL UNIQUE REFERENCES assignment(id),
  task TEXT NOT NULL REFERENCES task(id), agent TEXT NOT NULL REFERENCES agent(id),
  report TEXT NOT NULL CHECK (json_valid(report)),  -- outcome, done, uncertain, refs
  state TEXT NOT NULL CHECK (state IN ('unreviewed','accepted','rejected','superseded')),
  reviewed_by TEXT REFERENCES actor(id), because TEXT, created_at INTEGER NOT NULL, reviewed_at INTEGER,
  CHECK ((state = 'unreviewed') = (reviewed_at IS NULL))
) STRICT;
CREATE INDEX contribution_task ON contribution (task, state);

-- a Subagent's question with a bounded wait and a fallback
CREATE TABLE decision (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id), assignment TEXT NOT NULL REFERENCES assignment(id),
  agent TEXT NOT NULL REFERENCES agent(id), tool_call TEXT NOT NULL UNIQUE REFERENCES tool_call(id),
  question TEXT NOT NULL, fallback TEXT NOT NULL CHECK (length(fallback) > 0), deadline_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open','answered','fallback_used','cancelled')),
  answer TEXT, answered_by TEXT REFERENCES actor(id), created_at INTEGER NOT NULL, resolved_at INTEGER,
  CHECK (state <> 'answered' OR (answer IS NOT NULL AND answered_by IS NOT NULL)), CHECK ((state = 'open') = (resolved_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX decision_one_open ON decision (assignment) WHERE state = 'open';
CREATE INDEX decision_task ON decision (task, state);

-- ------------------------------------------------------------------ views

DROP VIEW completion_blocker;
CREATE VIEW completion_blocker AS
  SELECT task, 'approval' AS blocker, id AS ref FROM approval WHERE state = 'pending'
  UNION ALL SELECT task, 'question', id FROM human_request WHERE state = 'open'
  UNION ALL SELECT task, 'run', id FROM run WHERE state IN ('running','interrupted')
  UNION ALL SELECT r.task, 'tool_call', c.id FROM tool_call c JOIN run r ON r.id = c.run WHERE c.result_seq IS NULL
  UNION ALL SELECT task, 'assignment', id FROM assignment WHERE ended_at IS NULL
  UNION ALL SELECT task, 'contribution', id FROM contribution WHERE state = 'unreviewed'
  UNION ALL SELECT g.task, 'message', m.id FROM message m JOIN agent g ON g.id = m.to_actor
    WHERE g.role = 'main' AND m.state IN ('queued','delivered')
  UNION ALL SELECT task, 'job', id FROM job WHERE ended_at IS NULL AND role = 'work' AND task IS NOT NULL
  UNION ALL SELECT task, 'check', id FROM acceptance_check WHERE state IN ('open','failed')
  UNION ALL SELECT g.task, 'answer', g.id FROM agent g WHERE g.role = 'main' AND NOT EXISTS (
    SELECT 1 FROM trajectory t WHERE t.agent = g.id AND t.seq = g.next_seq - 1 AND t.role = 'assistant' AND t.n_tool_calls = 0 AND t.cut = 0);

-- Tasks in which some agent may be absent and have work; domain says which
DROP VIEW needs_host;
DROP VIEW main_due;
CREATE VIEW maybe_due AS
  SELECT t.id AS task FROM task t WHERE t.status IN ('active','parked','awaiting_human')
    AND (  EXISTS (SELECT 1 FROM run r WHERE r.task = t.id AND r.state = 'interrupted')
        OR EXISTS (SELECT 1 FROM assignment a WHERE a.task = t.id AND a.ended_at IS NULL)
        OR EXISTS (SELECT 1 FROM message m WHERE m.to_actor = t.main AND m.state = 'queued'));

-- why the host must stay, beside agents that are due
CREATE VIEW needs_host AS
  SELECT 'run' AS why, id AS ref, task FROM run WHERE state = 'running'
  UNION ALL SELECT 'control', id, task FROM control WHERE state = 'requested'
  UNION ALL SELECT 'job', id, name FROM job WHERE ended_at IS NULL;

CREATE VIEW fsck_delegation AS
  SELECT 'F18' AS code, 'assignment' AS entity, a.id AS id, 'ended without a Contribution, or has one before its end' AS detail FROM assignment a
    WHERE (a.ended_at IS NOT NULL) <> EXISTS (SELECT 1 FROM contribution c WHERE c.assignment = a.id)
  UNION ALL SELECT 'F19','assignment',a.id,'ended, and whoever gave it was not told' FROM assignment a JOIN task t ON t.id = a.task
    WHERE a.mode = 'async' AND a.ended_at IS NOT NULL AND t.status <> 'cancelled' AND NOT EXISTS (
      SELECT 1 FROM message m WHERE m.to_actor = a.parent AND m.key = 'assignment:' || a.id || ':terminal')
  UNION ALL SELECT 'F20','assignment',a.id,'was told although a call waits for it' FROM assignment a JOIN tool_call c ON c.id = a.call
    WHERE a.mode = 'sync' AND c.result_seq IS NULL AND EXISTS (
      SELECT 1 FROM message m WHERE m.to_actor = a.parent AND m.key = 'assignment:' || a.id || ':terminal')
  UNION ALL SELECT 'F21','assignment',a.id,'is waited for by a call that has its result' FROM assignment a JOIN tool_call c ON c.id = a.call
    WHERE a.mode = 'sync' AND a.ended_at IS NULL AND c.result_seq IS NOT NULL
  UNION ALL SELECT 'F22','run',r.id,'a Subagent runs without an assignment' FROM run r JOIN agent g ON g.id = r.agent
    WHERE g.role = 'subagent' AND r.ended_at IS NULL AND NOT EXISTS (
      SELECT 1 FROM assignment a WHERE a.agent = r.agent AND a.ended_at IS NULL)
  UNION ALL SELECT 'F23','agent',g.id,'retired with work' FROM agent g
    WHERE g.retired_at IS NOT NULL AND EXISTS (SELECT 1 FROM assignment a WHERE a.agent = g.id AND a.ended_at IS NULL)
  UNION ALL SELECT 'F24','decision',d.id,'open for an assignment that has ended' FROM decision d JOIN assignment a ON a.id = d.assignment
    WHERE d.state = 'open' AND a.ended_at IS NOT NULL
  UNION ALL SELECT 'F25','decision',d.id,'nobody was asked' FROM decision d WHERE NOT EXISTS (
      SELECT 1 FROM message m WHERE m.key = 'decision:' || d.id || ':request');
