-- An author outlives its Task: what an agent wrote in a Resource that is not its Task's stays, and so does its name.

-- who wrote or settled something that stands in a Resource, or did what no Task's log holds
CREATE VIEW author AS
  SELECT updated_by AS actor FROM resource
  UNION SELECT actor FROM revision
  UNION SELECT accepted_by FROM revision WHERE accepted_by IS NOT NULL
  UNION SELECT actor FROM candidate
  UNION SELECT settled_by FROM candidate WHERE settled_by IS NOT NULL
  UNION SELECT actor FROM engine_intent
  UNION SELECT actor FROM event WHERE task IS NULL;

-- a proposal that nobody has decided keeps its Task from being completed
DROP VIEW fsck;
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
  UNION ALL SELECT r.task, 'candidate', c.id FROM candidate c JOIN resource r ON r.id = c.resource
    WHERE r.task IS NOT NULL AND c.settled_by IS NULL
  UNION ALL SELECT g.task, 'answer', g.id FROM agent g WHERE g.role = 'main' AND NOT EXISTS (
    SELECT 1 FROM trajectory t WHERE t.agent = g.id AND t.seq = g.next_seq - 1 AND t.role = 'assistant' AND t.n_tool_calls = 0 AND t.cut = 0);

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
  UNION ALL SELECT 'F57','actor',a.id,'kind is not what it names' FROM actor a
    WHERE a.kind = 'agent' AND a.id NOT IN (SELECT id FROM agent) AND a.id NOT IN (SELECT actor FROM author)
       OR a.kind <> 'agent' AND a.id IN (SELECT id FROM agent)
  UNION ALL SELECT 'F58','task',t.id,'objective_version is not the newest' FROM task t
    WHERE t.objective_version <> coalesce((SELECT max(version) FROM objective_version o WHERE o.task = t.id), 0)
  UNION ALL SELECT 'F59','acceptance_check',c.id,'state without a verdict that says so' FROM acceptance_check c
    WHERE c.state <> 'open' AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.acceptance_check = c.id AND v.outcome = c.state)
  UNION ALL SELECT 'F66','approval',p.id,'pending for a call that does not wait' FROM approval p JOIN tool_call c ON c.id = p.tool_call
    WHERE p.state = 'pending' AND c.state <> 'awaiting_approval'
  UNION ALL SELECT 'F67','tool_call',c.id,'waits for an approval that is not pending' FROM tool_call c
    WHERE c.state = 'awaiting_approval' AND NOT EXISTS (SELECT 1 FROM approval p WHERE p.tool_call = c.id AND p.state = 'pending')
  UNION ALL SELECT 'F68','task',t.id,'waits for a person but nothing asks one' FROM task t WHERE t.status = 'awaiting_human' AND NOT EXISTS (
      SELECT 1 FROM completion_blocker b WHERE b.task = t.id AND b.blocker IN ('approval','question','check','candidate'))
  UNION ALL SELECT 'F69','control',c.id,'open for a Run that has ended' FROM control c JOIN run r ON r.id = c.run
    WHERE c.state = 'requested' AND r.ended_at IS NOT NULL;
