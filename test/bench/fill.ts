import type { BenchDatabase } from './postgres.ts';

/*
 * Sessions and events written straight into the tables of sessions, where making them through the API would take
 * hours. Whatever is written belongs to the owner and the agent of the one session that is there already, which was
 * made through the API.
 */

/** Rows of one statement. */
const BATCH = 100_000;
/** Sessions that run, and as many that wait for somebody, however many there are in all. */
export const AT_WORK = 25;

const MODEL = `(select session_id, owner_id, agent_id from sessions.sessions where session_id not like 'ses_00%')`;
const NUMBERS = (from: number, to: number) => `generate_series(${from}, ${to}) i`;
const ID = `lpad(i::text, 26, '0')`;
/** The actor and what else an event has besides its place, its type and its data. */
const EVENT = (seq: string, type: string, data: string) => `
  '{"event_id":"evt_' || ${ID} || '","session_id":"' || session_id || '","seq":' || ${seq} || ',"type":"${type}",'
  || '"turn_id":"trn_' || ${ID} || '","created_at":"2026-01-01T12:00:00.000Z","actor":{"type":"agent","id":"'
  || agent_id || '"},"data":${data}}'`;
const DELTA = `{"message_id":"msg_01KAK3V9Q6W1X2Y3Z4A5B6C7D8","index":7,"delta":"and then "}`;
const MESSAGE = `{"content":[{"type":"text","text":"Tell me again which of them are bound for the north."}]}`;

/** Appends pieces of a message to the only session, one to a row, until its journal has so many events. */
export async function fillJournal(database: BenchDatabase, events: number): Promise<void> {
  const [last = 0] = await database.ask('select last_seq from sessions.heads');
  for (let from = last + 1; from <= events; from += BATCH)
    await database.run(`
      insert into sessions.journal (session_id, first_seq, last_seq, types, bytes, events)
      select session_id, i, i, '{agent.message_delta}', octet_length(event), event
      from ${NUMBERS(from, Math.min(events, from + BATCH - 1))}, ${MODEL} model,
        lateral (select '[' || ${EVENT('i', 'agent.message_delta', DELTA)} || ']' as event) e`);
  await database.run(`update sessions.heads set last_seq = greatest(last_seq, ${events})`);
}

/** Turns of 100 events: what an agent says in 85 pieces, and what happens around it. */
const TALK: readonly [upTo: number, type: string, data: string][] = [
  [1, 'user.message', MESSAGE],
  [2, 'turn.queued', '{"turn_id":"trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8"}'],
  [3, 'turn.started', '{"turn_id":"trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8","attempt":1,"fence":1}'],
  [4, 'session.status_running', '{"turn_id":"trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8","attempt":1,"fence":1}'],
  [5, 'model.request_started', '{"model":"rehearsal/script"}'],
  [90, 'agent.message_delta', DELTA],
  [
    91,
    'agent.message',
    `{"message_id":"msg_01KAK3V9Q6W1X2Y3Z4A5B6C7D8","content":[{"type":"text","text":"## North\\n\\nAll **of them** are bound for the north:\\n\\n1. one\\n2. two\\n"}],"model":"rehearsal/script","finish_reason":"stop"}`,
  ],
  [
    92,
    'agent.tool_use',
    '{"tool_use_id":"call_1","name":"calculator","input":{"expression":"6 * 7"},"evaluated_permission":"allow"}',
  ],
  [93, 'agent.tool_dispatched', '{"tool_use_id":"call_1","attempt":1,"fence":1}'],
  [94, 'agent.tool_result', '{"tool_use_id":"call_1","output":"42","is_error":false,"duration_ms":3}'],
  [
    97,
    'model.request_finished',
    '{"model":"rehearsal/script","usage":{"input_tokens":4,"output_tokens":85},"duration_ms":2500,"is_error":false}',
  ],
  [
    98,
    'turn.completed',
    '{"turn_id":"trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8","attempt":1,"fence":1,"usage":{"input_tokens":4,"output_tokens":85,"steps":1,"tool_calls":1,"active_seconds":2.5}}',
  ],
  [99, 'session.status_idle', '{"stop_reason":{"type":"end_turn"}}'],
  [100, 'session.updated', '{"changed":["title"]}'],
];

/** Appends turns to the only session, one event to a row, until its journal has so many. */
export async function fillTalk(database: Pick<BenchDatabase, 'ask' | 'run'>, events: number): Promise<void> {
  const [last = 0] = await database.ask('select last_seq from sessions.heads');
  const place = '(i % 100 + 1)';
  const choose = (of: (entry: (typeof TALK)[number]) => string) =>
    `case ${TALK.map((entry) => `when ${place} <= ${entry[0]} then ${of(entry)}`).join(' ')} end`;
  const text = choose(([, type, data]) => EVENT('i', type, data));
  await database.run(`
    insert into sessions.journal (session_id, first_seq, last_seq, types, bytes, events)
    select session_id, i, i, array[type], octet_length(event), event
    from ${NUMBERS(last + 1, events)}, ${MODEL} model,
      lateral (select ${choose(([, type]) => `'${type}'`)} as type, '[' || ${text} || ']' as event) e`);
  await database.run(`update sessions.heads set last_seq = greatest(last_seq, ${events})`);
}

/** Adds idle sessions of one turn each, half of them those of another owner, until there are so many. */
export async function fillSessions(database: BenchDatabase, sessions: number): Promise<void> {
  for (let from = 1; from < sessions; from += BATCH)
    await database.run(fillOf(NUMBERS(from, Math.min(sessions - 1, from + BATCH - 1))));
}

export const idOf = (number: number) => `ses_${String(number).padStart(26, '0')}`;

/** One of the sessions that `fillSessions` adds, idle and of the owner. */
export const idleSession = (index: number) => idOf(2 * (AT_WORK + 1 + index));

/** How many `fillSessions` has to make for there to be so many of those. */
export const sessionsFor = (idle: number) => 2 * (AT_WORK + 1 + idle);

/** Every hundredth belongs to the agent. The first few are at work, until long after the bench. */
function fillOf(numbers: string): string {
  const runs = `i <= ${AT_WORK}`;
  const waits = `i > ${AT_WORK} and i <= ${2 * AT_WORK}`;
  const busy = `i <= ${2 * AT_WORK}`;
  return `
    create temp table filled on commit drop as
    select i, 'ses_' || ${ID} as session_id, 'trn_' || ${ID} as turn_id,
      case when i % 2 = 0 or ${busy} then owner_id else 'usr_01KAJ8QW4N2R6T0V3X5Z7B9D1F' end as owner_id,
      case when i % 100 = 0 then agent_id else 'agt_' || lpad((i % 1000)::text, 26, '0') end as agent_id
    from ${numbers}, ${MODEL} model;
    insert into sessions.sessions (session_id, owner_id, agent_id, agent_version, title, created_at)
    select session_id, owner_id, agent_id, 1, 'Session number ' || i, now() from filled;
    insert into sessions.heads (session_id, last_seq, status, stop_reason, current_turn_id, updated_at)
    select session_id, 3, case when ${runs} then 'running' else 'idle' end,
      case when ${runs} then null when ${waits} then '{"type":"requires_action","blocking":[]}'
        else '{"type":"end_turn"}' end::json,
      case when ${busy} then turn_id end, now()
    from filled;
    insert into sessions.turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status,
                                ready, attempt, lease_until, created_at, started_at, finished_at)
    select session_id, 2, turn_id, owner_id, agent_id, 1, 0,
      case when ${runs} then 'in_progress' when ${waits} then 'blocked' else 'completed' end, false, 1,
      case when ${runs} then now() + interval '1 day' end, now(), now(), case when not (${busy}) then now() end
    from filled;
    insert into sessions.journal (session_id, first_seq, last_seq, types, bytes, events)
    select session_id, 1, 3, '{session.created,user.message,turn.queued}', octet_length(events), events
    from filled, lateral (
      select '[' || ${EVENT('1', 'session.created', '{}')} || e',\\n' || ${EVENT('2', 'user.message', MESSAGE)}
        || e',\\n' || ${EVENT('3', 'turn.queued', '{}')} || ']' as events) e`;
}

/** What the database does by itself sooner or later, done now. */
export async function settle(database: BenchDatabase): Promise<void> {
  await database.run('vacuum (analyze)');
  await database.run('checkpoint');
}
