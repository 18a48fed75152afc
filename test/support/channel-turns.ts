import { rowsOn } from './sql.ts';

/** A turn of a channel, as the journal of its session tells it. */
export interface ChannelTurn {
  sessionId: string;
  turnId: string;
  /** The texts of its user messages. */
  messages: string[];
  answer: string;
  /** The event that ended it. */
  end: string | undefined;
}

interface JournalRow extends Record<string, unknown> {
  sessionId: string;
  type: string;
  turnId: string | null;
  data: { content?: { type: string; text?: string }[]; turn_id?: string };
}

const ENDS = new Set(['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']);

/** Returns the turns of a channel. Those of a session are in the order of their first events. */
export async function channelTurns(databaseUrl: string, channelId: string): Promise<ChannelTurn[]> {
  const events = await rowsOn<JournalRow>(
    databaseUrl,
    `select j.session_id as "sessionId", e ->> 'type' as type, e ->> 'turn_id' as "turnId", e -> 'data' as data
     from sessions.journal j join sessions.sessions s using (session_id),
       json_array_elements(j.events::json) with ordinality as listed (e, place)
     where s.deployment_id = '${channelId}' order by j.session_id, j.first_seq, place`,
  );
  const turns = new Map<string, ChannelTurn>();
  for (const { sessionId, type, turnId, data } of events) {
    const id = data.turn_id ?? turnId;
    if (!id) continue;
    const turn = turns.get(id) ?? { sessionId, turnId: id, messages: [], answer: '', end: undefined };
    turns.set(id, turn);
    const text = data.content?.map((part) => part.text ?? '').join('') ?? '';
    if (type === 'user.message') turn.messages.push(text);
    if (type === 'agent.message') turn.answer += text;
    if (ENDS.has(type)) turn.end = type;
  }
  return [...turns.values()];
}
