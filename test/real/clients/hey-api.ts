import {
  createAgent,
  createConversation,
  getAgent,
  listAgents,
  streamEvents,
  updateAgent,
} from './generated';
import { client } from './generated/client.gen';
import { type JourneyResult, UNKNOWN_AGENT } from './result.ts';

export async function journey(origin: string): Promise<JourneyResult> {
  client.setConfig({ baseUrl: `${origin}/api/v1` });
  const created = await createAgent({ body: { name: 'Echo', model: 'rehearsal/echo' } });
  if (!created.data) throw new Error(created.error.message);
  const { agent_id } = created.data.data;
  const etag = created.response?.headers.get('etag') ?? '';
  const path = { agent_id };

  const begun = await createConversation({ path, body: { message: 'Hello!' } });
  if (!begun.data) throw new Error(begun.error.message);
  const answer = await follow(begun.data.data.session_id);

  await createAgent({ body: { name: 'Second', model: 'rehearsal/echo' } });
  const first = await listAgents({ query: { limit: 1 } });
  const cursor = first.data?.page.next_cursor;
  if (!cursor) throw new Error('There is no second page.');
  const second = await listAgents({ query: { limit: 1, cursor } });

  const unknown = await getAgent({ path: { agent_id: UNKNOWN_AGENT } });
  const headers = { 'If-Match': etag };
  const changed = await updateAgent({
    path,
    headers,
    body: { name: 'Renamed', system: 'Repeat the message.' },
  });
  const conflict = await updateAgent({ path, headers, body: { name: 'Lost' } });
  return {
    answer,
    pages: [first.data?.data.length ?? 0, second.data?.data.length ?? 0],
    unknownAgent: [unknown.error?.code ?? '', unknown.error?.error.owner ?? ''],
    outdatedChange: [conflict.response?.status ?? 0, conflict.error?.code ?? ''],
    newName: changed.data?.data.name ?? '',
  };
}

/** Returns the text of the agent when the session is idle. */
async function follow(session_id: string): Promise<string> {
  const { stream } = await streamEvents({ path: { session_id } });
  let answer = '';
  for await (const item of stream) {
    switch (item.type) {
      case 'agent.message':
        for (const part of item.data.content) if (part.type === 'text') answer += part.text;
        break;
      case 'turn.failed':
        throw new Error(item.data.error.message);
      case 'stream.draining':
        throw new Error(`Reconnect after ${item.reconnect_after_ms} ms.`);
      case 'session.status_idle':
        return item.data.stop_reason.type === 'end_turn' ? answer : '';
    }
  }
  throw new Error('The stream has ended.');
}
