import { countOn, runOn } from './sql.ts';

/**
 * Appends events of `bytes` bytes each to the journal of a session, directly in the database and without a hint. Followers
 * find them within a second. Returns the seq of the last one.
 */
export async function appendEvents(
  databaseUrl: string,
  sessionId: string,
  events: { count: number; bytes: number },
): Promise<number> {
  const last = await countOn(
    databaseUrl,
    `select last_seq as count from sessions.heads where session_id = '${sessionId}'`,
  );
  const end = last + events.count;
  const event = `'{"event_id":"evt_' || lpad(i::text, 26, '0') || '","session_id":"${sessionId}","seq":' || i
    || ',"type":"agent.message_delta","turn_id":"trn_' || lpad('', 26, '0') || '","created_at":"2026-01-01T12:00:00.000Z",'
    || '"actor":{"type":"agent","id":"agt_' || lpad('', 26, '0') || '"},"data":{"message_id":"msg_' || lpad('', 26, '0')
    || '","index":0,"delta":"' || repeat('x', ${events.bytes}) || '"}}'`;
  await runOn(
    databaseUrl,
    `insert into sessions.journal (session_id, first_seq, last_seq, types, bytes, events)
     select '${sessionId}', i, i, '{agent.message_delta}', octet_length(event), event
     from generate_series(${last + 1}, ${end}) i, lateral (select '[' || ${event} || ']' as event) e;
     update sessions.heads set last_seq = ${end} where session_id = '${sessionId}'`,
  );
  return end;
}
