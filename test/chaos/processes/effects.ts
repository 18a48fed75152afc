import { rowsOn } from '../../support/sql.ts';

interface JournalEvent {
  type: string;
  data: { content?: { text?: string }[] };
}

/** The load sends each of these texts once. */
const SENT_ONCE = /^(?:(?:webhook|message) \d+|\$ echo command \d+ .*)$/;
/** A line that a command of the load adds to a file with every run. */
const EFFECT = /command \d+/g;

/** Returns the effects that happened more than once: messages in several turns, and commands with several runs. */
export async function repeatedEffects(databaseUrl: string): Promise<string[]> {
  const rows = await rowsOn<{ session_id: string; events: string }>(
    databaseUrl,
    'select session_id, events from sessions.journal order by session_id, last_seq',
  );
  const sessionsOf = new Map<string, string[]>();
  const repeated: string[] = [];
  for (const { session_id: session, events } of rows)
    for (const { type, data } of JSON.parse(events) as JournalEvent[]) {
      const text = data.content?.[0]?.text ?? '';
      if (type === 'user.message' && SENT_ONCE.test(text))
        sessionsOf.set(text, [...(sessionsOf.get(text) ?? []), session]);
      const runs = type === 'agent.tool_result' ? (JSON.stringify(data).match(EFFECT)?.length ?? 0) : 0;
      if (runs > 1) repeated.push(`${session}: its command ran ${runs} times`);
    }
  for (const [text, sessions] of sessionsOf)
    if (sessions.length > 1) repeated.push(`${text}: in ${sessions.join(', ')}`);
  return repeated;
}
