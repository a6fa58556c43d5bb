-- Tasks, agents and their saved context, messages, approvals, questions.
--
-- The laws live in `domain`. The database holds what must hold even if domain errs: foreign keys, idempotency keys,
-- one-at-a-time indexes, CHECKs that tie a state to its evidence, the fence, append-only. The view `fsck` watches the rest.
--
--   * Closed sets of states are CHECKed; kinds (of messages, events, actors, checks) grow and are not.
--   * Order is seq / number / fence, never a clock (*_at: Unix milliseconds UTC) and never an id.
--   * Every transaction that changes rows inserts events, each with the writer's fence; a stale fence rolls it all back.

-- ------------------------------------------------------------------ ownership, actors, events

-- who may write: one row; the fence only rises
CREATE TABLE writer_lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  fence INTEGER NOT NULL CHECK (fence >= 1),
  holder TEXT NOT NULL,                             -- random, one per host process
  host TEXT NOT NULL,                               -- the machine's name, for people
  pid INTEGER NOT NULL, pid_start INTEGER NOT NULL, boot_id TEXT NOT NULL,   -- together: which process
  acquired_at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER writer_lease_rises BEFORE UPDATE OF fence, holder ON writer_lease
WHEN NEW.fence < OLD.fence OR (NEW.holder <> OLD.holder AND NEW.fence <= OLD.fence)
BEGIN SELECT RAISE(ABORT, 'fence_must_increase'); END;
CREATE TRIGGER writer_lease_stays BEFORE DELETE ON writer_lease BEGIN SELECT RAISE(ABORT, 'lease_row_is_permanent'); END;

-- whoever can act or be named as a cause; the id of an agent is also its actor id
CREATE TABLE actor (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,                               -- person, agent, job, source, file, system
  created_at INTEGER NOT NULL
) STRICT;

-- what was removed on purpose; closes the hash chain; outlives its Task (hence no foreign key)
CREATE TABLE tombstone (
  chain TEXT NOT NULL,                              -- 'event:<task>' or 'trajectory:<agent>'
  task TEXT NOT NULL,
  from_seq INTEGER NOT NULL, through_seq INTEGER NOT NULL,
  last_hash BLOB NOT NULL,                          -- row_hash at through_seq
  reason TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (chain, through_seq), CHECK (from_seq <= through_seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER tombstone_append_only_u BEFORE UPDATE ON tombstone BEGIN SELECT RAISE(ABORT, 'append_only'); END;
CREATE TRIGGER tombstone_append_only_d BEFORE DELETE ON tombstone BEGIN SELECT RAISE(ABORT, 'append_only'); END;

-- what happened, in order; seq is global, the hash chain is per Task
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  task TEXT REFERENCES task(id) DEFERRABLE INITIALLY DEFERRED,
  command TEXT NOT NULL,                            -- the command that caused it: sent twice, found here
  actor TEXT NOT NULL REFERENCES actor(id) DEFERRABLE INITIALLY DEFERRED,
  fence INTEGER NOT NULL,
  kind TEXT NOT NULL, entity TEXT NOT NULL, entity_id TEXT NOT NULL,
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  at INTEGER NOT NULL,
  prev_hash BLOB, row_hash BLOB NOT NULL            -- over every column, by the program
) STRICT;
CREATE INDEX event_task ON event (task, seq);
CREATE INDEX event_command ON event (command);
CREATE TRIGGER event_fence BEFORE INSERT ON event
WHEN NEW.fence IS NOT (SELECT fence FROM writer_lease WHERE id = 1)
BEGIN SELECT RAISE(ROLLBACK, 'stale_fence'); END;   -- ROLLBACK, not ABORT: a zombie must not keep the write lock
CREATE TRIGGER event_append_only_u BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'append_only'); END;
CREATE TRIGGER event_append_only_d BEFORE DELETE ON event
WHEN NOT EXISTS (SELECT 1 FROM tombstone t WHERE t.chain = 'event:' || coalesce(OLD.task, '') AND OLD.seq BETWEEN t.from_seq AND t.through_seq)
BEGIN SELECT RAISE(ABORT, 'append_only'); END;

-- ------------------------------------------------------------------ Task, objective, acceptance

-- what the user wants done; outlives every process
CREATE TABLE task (
  id TEXT NOT NULL PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active','parked','awaiting_human','paused','completed','failed','cancelled')),
  reason TEXT,                                      -- why it is in that state
  resume_status TEXT,                               -- what 'paused' goes back to
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0,1)),
  cwd TEXT, model TEXT,
  policy TEXT NOT NULL CHECK (json_valid(policy)),  -- what is possible, and when a person is asked
  budget TEXT NOT NULL CHECK (json_valid(budget)),
  objective_version INTEGER NOT NULL DEFAULT 0,     -- 0 = none yet
  usage TEXT NOT NULL CHECK (json_valid(usage)),    -- what it has used, with whole millionths of a dollar
  main TEXT NOT NULL REFERENCES agent(id) DEFERRABLE INITIALLY DEFERRED,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  CHECK (status <> 'paused' OR resume_status IS NOT NULL)
) STRICT;
CREATE INDEX task_recent ON task (archived, updated_at);

-- every wording of the objective
CREATE TABLE objective_version (
  task TEXT NOT NULL REFERENCES task(id), version INTEGER NOT NULL CHECK (version >= 1),
  text TEXT NOT NULL, actor TEXT NOT NULL REFERENCES actor(id), at INTEGER NOT NULL,
  PRIMARY KEY (task, version)
) STRICT, WITHOUT ROWID;

-- a point to be met before the Task is complete; failed still blocks, only a person waives
CREATE TABLE acceptance_check (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id),
  objective_version INTEGER,                        -- agreed under it; NULL = before there was one
  kind TEXT NOT NULL,                               -- command, test, artifact, person, outside
  text TEXT NOT NULL,                               -- what must hold; for command and test the command itself
  state TEXT NOT NULL CHECK (state IN ('open','passed','failed','waived')),
  failures INTEGER NOT NULL DEFAULT 0, judged_through INTEGER, created_at INTEGER NOT NULL,
  FOREIGN KEY (task, objective_version) REFERENCES objective_version(task, version)
) STRICT;
CREATE INDEX acceptance_check_task ON acceptance_check (task, state);

-- each judgement of a check, with its evidence
CREATE TABLE verdict (
  id TEXT NOT NULL PRIMARY KEY, acceptance_check TEXT NOT NULL REFERENCES acceptance_check(id),
  outcome TEXT NOT NULL CHECK (outcome IN ('passed','failed','waived')), evidence TEXT NOT NULL CHECK (json_valid(evidence)),
  through_seq INTEGER NOT NULL,                     -- how far Main's context reached
  actor TEXT NOT NULL REFERENCES actor(id), at INTEGER NOT NULL
) STRICT;
CREATE INDEX verdict_check ON verdict (acceptance_check);

-- ------------------------------------------------------------------ agents, Runs, saved context

-- one conversation each
CREATE TABLE agent (
  id TEXT NOT NULL PRIMARY KEY REFERENCES actor(id), task TEXT NOT NULL REFERENCES task(id) DEFERRABLE INITIALLY DEFERRED,
  role TEXT NOT NULL CHECK (role IN ('main','subagent')),
  next_seq INTEGER NOT NULL DEFAULT 1,              -- the number its next row will have
  tail_from_seq INTEGER NOT NULL DEFAULT 1,         -- first row that is sent verbatim
  failures INTEGER NOT NULL DEFAULT 0,              -- failed requests in a row
  retry_at INTEGER,                                 -- not before this is the model asked again
  created_at INTEGER NOT NULL, retired_at INTEGER
) STRICT;
CREATE UNIQUE INDEX agent_one_main ON agent (task) WHERE role = 'main';
CREATE INDEX agent_task ON agent (task);

-- one execution of one agent
CREATE TABLE run (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id), agent TEXT NOT NULL REFERENCES agent(id),
  state TEXT NOT NULL CHECK (state IN ('running','interrupted','completed','failed','cancelled')),
  fence INTEGER NOT NULL,                           -- ownership under which it runs
  end_reason TEXT,                                  -- finished, interrupted, cancelled, budget, model, internal
  detail TEXT, started_at INTEGER NOT NULL, ended_at INTEGER,
  CHECK ((state IN ('completed','failed','cancelled')) = (ended_at IS NOT NULL)), CHECK (ended_at IS NULL OR end_reason IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX run_one_live ON run (agent) WHERE state IN ('running','interrupted');
CREATE INDEX run_task ON run (task);

-- the saved context: what the model is shown, row by row
CREATE TABLE trajectory (
  agent TEXT NOT NULL REFERENCES agent(id), seq INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('system','user','assistant','tool')), body TEXT NOT NULL CHECK (json_valid(body)),
  message TEXT UNIQUE REFERENCES message(id),       -- the message it delivers: at most one row per message
  tool_call TEXT UNIQUE REFERENCES tool_call(id),   -- the call it is THE result of
  n_tool_calls INTEGER NOT NULL DEFAULT 0,
  cut INTEGER NOT NULL DEFAULT 0 CHECK (cut IN (0,1)),   -- interrupted answer; it is an answer, but no final one
  tokens INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL,
  prev_hash BLOB, row_hash BLOB NOT NULL,
  PRIMARY KEY (agent, seq), CHECK ((role = 'tool') = (tool_call IS NOT NULL)), CHECK (role = 'assistant' OR (n_tool_calls = 0 AND cut = 0))
) STRICT;
CREATE TRIGGER trajectory_append_only_u BEFORE UPDATE ON trajectory BEGIN SELECT RAISE(ABORT, 'append_only'); END;
CREATE TRIGGER trajectory_append_only_d BEFORE DELETE ON trajectory
WHEN NOT EXISTS (SELECT 1 FROM tombstone t WHERE t.chain = 'trajectory:' || OLD.agent AND OLD.seq BETWEEN t.from_seq AND t.through_seq)
BEGIN SELECT RAISE(ABORT, 'append_only'); END;
CREATE TRIGGER trajectory_settled_first BEFORE INSERT ON trajectory
WHEN NEW.role IN ('user','assistant') AND EXISTS (SELECT 1 FROM tool_call c WHERE c.agent = NEW.agent AND c.result_seq IS NULL)
BEGIN SELECT RAISE(ABORT, 'tool_call_open'); END;

-- a settled boundary to resume from
CREATE TABLE checkpoint (
  id TEXT NOT NULL PRIMARY KEY, agent TEXT NOT NULL REFERENCES agent(id), run TEXT NOT NULL REFERENCES run(id),
  through_seq INTEGER NOT NULL,                     -- last row covered; every call up to it has settled
  tail_from_seq INTEGER NOT NULL, created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX checkpoint_agent ON checkpoint (agent, through_seq);

-- one request to a model
CREATE TABLE model_call (
  id TEXT NOT NULL PRIMARY KEY, agent TEXT NOT NULL REFERENCES agent(id), run TEXT NOT NULL REFERENCES run(id),
  purpose TEXT NOT NULL,                            -- turn; later compact, analysis, title
  state TEXT NOT NULL CHECK (state IN ('started','committed','failed','abandoned')), fence INTEGER NOT NULL,
  model TEXT NOT NULL,
  through_seq INTEGER NOT NULL,                     -- the last row that was sent: with the chain, what was sent
  result_seq INTEGER,                               -- the assistant row it produced
  error_class TEXT, usage TEXT CHECK (usage IS NULL OR json_valid(usage)), started_at INTEGER NOT NULL, ended_at INTEGER,
  CHECK (state <> 'committed' OR purpose <> 'turn' OR result_seq IS NOT NULL), CHECK ((state = 'started') = (ended_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX model_call_one_live ON model_call (agent, purpose) WHERE state = 'started';
CREATE UNIQUE INDEX model_call_one_result ON model_call (agent, result_seq) WHERE result_seq IS NOT NULL;
CREATE INDEX model_call_run ON model_call (run);

-- one tool call of an assistant row; its id is the idempotency key of the effect
CREATE TABLE tool_call (
  id TEXT NOT NULL PRIMARY KEY, agent TEXT NOT NULL REFERENCES agent(id), run TEXT NOT NULL REFERENCES run(id),
  assistant_seq INTEGER NOT NULL, ix INTEGER NOT NULL, provider_id TEXT NOT NULL,
  name TEXT NOT NULL, arguments TEXT NOT NULL,      -- raw text: may be invalid JSON
  -- after a crash: pure, idempotent -> run again; reconcilable -> probe the hashes; effectful -> uncertain
  effect TEXT NOT NULL CHECK (effect IN ('pure','idempotent','reconcilable','effectful')), pre_hash TEXT, post_hash TEXT,
  state TEXT NOT NULL CHECK (state IN ('planned','awaiting_approval','approved','running','done','error','uncertain','cancelled','denied')),
  fence INTEGER, result_seq INTEGER, created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER,
  UNIQUE (agent, assistant_seq, ix), UNIQUE (agent, assistant_seq, provider_id),
  FOREIGN KEY (agent, assistant_seq) REFERENCES trajectory(agent, seq),
  FOREIGN KEY (agent, result_seq) REFERENCES trajectory(agent, seq) DEFERRABLE INITIALLY DEFERRED,
  CHECK ((state IN ('done','error','uncertain','cancelled','denied')) = (result_seq IS NOT NULL)),
  CHECK (state <> 'running' OR (fence IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
CREATE INDEX tool_call_open ON tool_call (agent) WHERE result_seq IS NULL;
CREATE INDEX tool_call_run ON tool_call (run);

-- a person's yes or no to one exact action
CREATE TABLE approval (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id), agent TEXT NOT NULL REFERENCES agent(id),
  tool_call TEXT NOT NULL UNIQUE REFERENCES tool_call(id),
  action TEXT NOT NULL CHECK (json_valid(action)),  -- what was shown
  action_hash TEXT NOT NULL,                        -- of exactly that
  why TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending','allowed','denied','expired','cancelled')),
  because TEXT, decided_by TEXT REFERENCES actor(id), created_at INTEGER NOT NULL, decided_at INTEGER,
  CHECK (state NOT IN ('allowed','denied') OR decided_by IS NOT NULL), CHECK ((state = 'pending') = (decided_at IS NULL))
) STRICT;
CREATE INDEX approval_open ON approval (task) WHERE state = 'pending';
CREATE INDEX approval_agent ON approval (agent);

-- a standing answer to approvals of one exact shape in one folder
CREATE TABLE rule (
  id TEXT NOT NULL PRIMARY KEY, cwd TEXT NOT NULL, allow INTEGER NOT NULL CHECK (allow IN (0,1)),
  tool TEXT NOT NULL, subject TEXT NOT NULL,        -- the exact command, path or host
  approval TEXT NOT NULL,                           -- where it came from; that may be removed with its Task
  actor TEXT NOT NULL REFERENCES actor(id), created_at INTEGER NOT NULL
) STRICT;

-- a question to the person
CREATE TABLE human_request (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id), agent TEXT NOT NULL REFERENCES agent(id),
  tool_call TEXT NOT NULL UNIQUE REFERENCES tool_call(id),
  question TEXT NOT NULL, options TEXT NOT NULL CHECK (json_valid(options)), meanwhile TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open','answered','cancelled')), answer TEXT, created_at INTEGER NOT NULL, resolved_at INTEGER,
  CHECK (state <> 'answered' OR answer IS NOT NULL), CHECK ((state = 'open') = (resolved_at IS NULL))
) STRICT;
CREATE INDEX human_request_open ON human_request (task) WHERE state = 'open';

-- interrupt: acts at once and is not a message
CREATE TABLE control (
  id TEXT NOT NULL PRIMARY KEY, task TEXT NOT NULL REFERENCES task(id), run TEXT NOT NULL REFERENCES run(id), action TEXT NOT NULL,
  actor TEXT NOT NULL REFERENCES actor(id),
  state TEXT NOT NULL CHECK (state IN ('requested','applied','moot')), created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX control_one_open ON control (run, action) WHERE state = 'requested';
CREATE INDEX control_task ON control (task);

-- ------------------------------------------------------------------ messages, drafts, trust

-- the Inbox. Delivered = a row of the saved context (the acknowledgement; under the current fence it is the lease).
-- Consumed = answered by the first assistant row after it.
CREATE TABLE message (
  id TEXT NOT NULL PRIMARY KEY, task TEXT REFERENCES task(id),
  to_actor TEXT NOT NULL REFERENCES actor(id), from_actor TEXT NOT NULL REFERENCES actor(id),
  kind TEXT NOT NULL,
  key TEXT NOT NULL,                                -- names the fact, never the attempt
  delivery TEXT NOT NULL CHECK (delivery IN ('boundary','turn_end')),
  ord INTEGER NOT NULL,                             -- its place among those that wait in the same Inbox
  text TEXT NOT NULL, refs TEXT NOT NULL CHECK (json_valid(refs)),
  state TEXT NOT NULL CHECK (state IN ('queued','delivered','consumed','undelivered','coalesced','withdrawn')),
  reason TEXT,                                      -- of undelivered
  fence INTEGER,                                    -- delivered under; take-over renews it
  context_seq INTEGER, consumed_seq INTEGER,        -- rows of the recipient's trajectory
  created_at INTEGER NOT NULL, delivered_at INTEGER, consumed_at INTEGER,
  UNIQUE (to_actor, key),
  CHECK (state NOT IN ('delivered','consumed') OR (delivered_at IS NOT NULL AND context_seq IS NOT NULL AND fence IS NOT NULL)),
  CHECK (state <> 'consumed' OR (consumed_at IS NOT NULL AND consumed_seq IS NOT NULL AND consumed_seq > context_seq)),
  CHECK (state <> 'undelivered' OR reason IS NOT NULL)
) STRICT;
CREATE INDEX message_ready ON message (to_actor, state);
CREATE INDEX message_task ON message (task, state);

-- unsent text of a client's panes; no event: a draft is not history
CREATE TABLE draft (
  client TEXT NOT NULL, pane TEXT NOT NULL, text TEXT NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (client, pane)
) STRICT, WITHOUT ROWID;

-- what the person said about folders, keyed by what the file system says they are
CREATE TABLE trust (
  path TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, owner INTEGER NOT NULL,
  trusted INTEGER NOT NULL CHECK (trusted IN (0,1)), at INTEGER NOT NULL,
  PRIMARY KEY (path, device, inode, owner)
) STRICT, WITHOUT ROWID;

-- ------------------------------------------------------------------ views

-- what stops a Task from being complete
CREATE VIEW completion_blocker AS
  SELECT task, 'approval' AS blocker, id AS ref FROM approval WHERE state = 'pending'
  UNION ALL SELECT task, 'question', id FROM human_request WHERE state = 'open'
  UNION ALL SELECT task, 'run', id FROM run WHERE state IN ('running','interrupted')
  UNION ALL SELECT r.task, 'tool_call', c.id FROM tool_call c JOIN run r ON r.id = c.run WHERE c.result_seq IS NULL
  UNION ALL SELECT g.task, 'message', m.id FROM message m JOIN agent g ON g.id = m.to_actor
    WHERE g.role = 'main' AND m.state IN ('queued','delivered')
  UNION ALL SELECT task, 'check', id FROM acceptance_check WHERE state IN ('open','failed')
  UNION ALL SELECT g.task, 'answer', g.id FROM agent g WHERE g.role = 'main' AND NOT EXISTS (
    SELECT 1 FROM trajectory t WHERE t.agent = g.id AND t.seq = g.next_seq - 1 AND t.role = 'assistant' AND t.n_tool_calls = 0 AND t.cut = 0);

-- Tasks whose Main is absent and has work; paused, awaiting_human and ended ones are left alone
CREATE VIEW main_due AS
  SELECT t.id AS task, t.main AS main FROM task t WHERE t.status IN ('active','parked')
    AND NOT EXISTS (SELECT 1 FROM run r WHERE r.agent = t.main AND r.state = 'running')
    AND (  EXISTS (SELECT 1 FROM run r WHERE r.agent = t.main AND r.state = 'interrupted')
        OR EXISTS (SELECT 1 FROM message m WHERE m.to_actor = t.main AND m.state = 'queued'));

-- why the host must stay; an idle Task or one that waits for a person does not hold it
CREATE VIEW needs_host AS
  SELECT 'run' AS why, id AS ref, task FROM run WHERE state = 'running'
  UNION ALL SELECT 'main_due', main, task FROM main_due
  UNION ALL SELECT 'control', id, task FROM control WHERE state = 'requested';

-- must be empty after every commit; codes are stable
CREATE VIEW fsck AS
  SELECT 'F02' AS code, 'run' AS entity, id, 'running under a stale fence' AS detail FROM run
    WHERE state = 'running' AND fence IS NOT (SELECT fence FROM writer_lease)
  UNION ALL SELECT 'F03','message',m.id,'delivered but not in the saved context' FROM message m JOIN agent g ON g.id = m.to_actor
    WHERE m.state IN ('delivered','consumed') AND NOT EXISTS (
      SELECT 1 FROM trajectory t WHERE t.agent = m.to_actor AND t.seq = m.context_seq AND t.message = m.id)
  UNION ALL SELECT 'F04','message',m.id,'in the saved context but not marked delivered there' FROM trajectory t JOIN message m ON m.id = t.message
    WHERE m.state NOT IN ('delivered','consumed') OR m.context_seq IS NOT t.seq OR m.to_actor <> t.agent
  UNION ALL SELECT 'F05','message',m.id,'consumed_seq is not the first answer after delivery' FROM message m
    WHERE m.state = 'consumed' AND m.consumed_seq IS NOT (
      SELECT min(t.seq) FROM trajectory t WHERE t.agent = m.to_actor AND t.role = 'assistant' AND t.seq > m.context_seq)
  UNION ALL SELECT 'F06','message',m.id,'answered but still only delivered' FROM message m WHERE m.state = 'delivered' AND EXISTS (
      SELECT 1 FROM trajectory t WHERE t.agent = m.to_actor AND t.role = 'assistant' AND t.seq > m.context_seq)
  UNION ALL SELECT 'F07','message',id,'delivered under a stale fence' FROM message
    WHERE state = 'delivered' AND fence IS NOT (SELECT fence FROM writer_lease)
  UNION ALL SELECT 'F08','message',m.id,'queued for a retired agent' FROM message m JOIN agent g ON g.id = m.to_actor
    WHERE m.state = 'queued' AND g.retired_at IS NOT NULL
  UNION ALL SELECT 'F09','agent',g.id,'trajectory has a gap, or next_seq is wrong' FROM agent g
    WHERE g.next_seq - 1 <> (SELECT count(*) FROM trajectory t WHERE t.agent = g.id AND t.seq BETWEEN 1 AND g.next_seq - 1)
       OR EXISTS (SELECT 1 FROM trajectory t WHERE t.agent = g.id AND t.seq NOT BETWEEN 1 AND g.next_seq - 1)
  UNION ALL SELECT 'F10','trajectory',t.agent || ':' || t.seq,'hash chain broken' FROM trajectory t WHERE t.prev_hash IS NOT
      (SELECT p.row_hash FROM trajectory p WHERE p.agent = t.agent AND p.seq = t.seq - 1)
  UNION ALL SELECT 'F11','trajectory',t.agent || ':' || t.seq,'n_tool_calls differs from the tool calls' FROM trajectory t
    WHERE t.role = 'assistant' AND t.n_tool_calls <> (SELECT count(*) FROM tool_call c WHERE c.agent = t.agent AND c.assistant_seq = t.seq)
  UNION ALL SELECT 'F12','tool_call',c.id,'settled without its result row' FROM tool_call c WHERE c.result_seq IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM trajectory t WHERE t.agent = c.agent AND t.seq = c.result_seq AND t.tool_call = c.id)
  UNION ALL SELECT 'F13','tool_call',c.id,'open but has a result row' FROM tool_call c
    WHERE c.result_seq IS NULL AND EXISTS (SELECT 1 FROM trajectory t WHERE t.tool_call = c.id)
  UNION ALL SELECT 'F14','tool_call',c.id,'result does not come before the next user or assistant row' FROM tool_call c
    WHERE EXISTS (SELECT 1 FROM trajectory t WHERE t.agent = c.agent AND t.role IN ('user','assistant')
                    AND t.seq > c.assistant_seq AND t.seq < coalesce(c.result_seq, t.seq + 1))
  UNION ALL SELECT 'F15','tool_call',c.id,'ran without an allowed approval' FROM tool_call c JOIN approval p ON p.tool_call = c.id
    WHERE c.started_at IS NOT NULL AND p.state <> 'allowed'
  UNION ALL SELECT 'F16','tool_call',id,'running under a stale fence' FROM tool_call
    WHERE state = 'running' AND fence IS NOT (SELECT fence FROM writer_lease)
  UNION ALL SELECT 'F17','model_call',id,'in flight under a stale fence' FROM model_call
    WHERE state = 'started' AND fence IS NOT (SELECT fence FROM writer_lease)
  UNION ALL SELECT 'F39','task',t.id,'completed despite ' || b.blocker FROM task t JOIN completion_blocker b ON b.task = t.id WHERE t.status = 'completed'
  UNION ALL SELECT 'F43','checkpoint',k.id,'not at a settled boundary, or past the end' FROM checkpoint k
    WHERE k.through_seq >= (SELECT next_seq FROM agent WHERE id = k.agent) OR EXISTS (
      SELECT 1 FROM tool_call c WHERE c.agent = k.agent AND c.assistant_seq <= k.through_seq AND (c.result_seq IS NULL OR c.result_seq > k.through_seq))
  UNION ALL SELECT 'F44','event',CAST(e.seq AS TEXT),'hash chain of its Task broken' FROM event e WHERE e.prev_hash IS NOT
      (SELECT p.row_hash FROM event p WHERE p.task IS e.task AND p.seq < e.seq ORDER BY p.seq DESC LIMIT 1)
  UNION ALL SELECT 'F48','task',t.id,'without its Main' FROM task t WHERE NOT EXISTS (
      SELECT 1 FROM agent g WHERE g.id = t.main AND g.task = t.id AND g.role = 'main')
  UNION ALL SELECT 'F56','run',r.id,'Main runs while its Task is parked or ended' FROM run r JOIN agent g ON g.id = r.agent JOIN task t ON t.id = r.task
    WHERE g.role = 'main' AND r.state = 'running' AND t.status IN ('parked','completed','failed','cancelled')
  UNION ALL SELECT 'F57','actor',a.id,'kind is not what it names' FROM actor a WHERE (a.kind = 'agent') <> (a.id IN (SELECT id FROM agent))
  UNION ALL SELECT 'F58','task',t.id,'objective_version is not the newest' FROM task t
    WHERE t.objective_version <> coalesce((SELECT max(version) FROM objective_version o WHERE o.task = t.id), 0)
  UNION ALL SELECT 'F59','acceptance_check',c.id,'state without a verdict that says so' FROM acceptance_check c
    WHERE c.state <> 'open' AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.acceptance_check = c.id AND v.outcome = c.state)
  UNION ALL SELECT 'F66','approval',p.id,'pending for a call that does not wait' FROM approval p JOIN tool_call c ON c.id = p.tool_call
    WHERE p.state = 'pending' AND c.state <> 'awaiting_approval'
  UNION ALL SELECT 'F67','tool_call',c.id,'waits for an approval that is not pending' FROM tool_call c
    WHERE c.state = 'awaiting_approval' AND NOT EXISTS (SELECT 1 FROM approval p WHERE p.tool_call = c.id AND p.state = 'pending')
  UNION ALL SELECT 'F68','task',t.id,'waits for a person but nothing asks one' FROM task t WHERE t.status = 'awaiting_human' AND NOT EXISTS (
      SELECT 1 FROM completion_blocker b WHERE b.task = t.id AND b.blocker IN ('approval','question','check'))
  UNION ALL SELECT 'F69','control',c.id,'open for a Run that has ended' FROM control c JOIN run r ON r.id = c.run
    WHERE c.state = 'requested' AND r.ended_at IS NOT NULL;

-- smells, not corruption
CREATE VIEW fsck_warn AS
  SELECT 'W10' AS code, 'approval' AS entity, id, 'has waited for a person for more than a day' AS detail FROM approval
    WHERE state = 'pending' AND created_at < CAST(strftime('%s','now') AS INTEGER) * 1000 - 86400000
  UNION ALL SELECT 'W11','tool_call',id,'may have happened: its process died before the result was saved' FROM tool_call
    WHERE state = 'uncertain' AND ended_at > CAST(strftime('%s','now') AS INTEGER) * 1000 - 86400000;
