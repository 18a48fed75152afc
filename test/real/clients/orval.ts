import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  createAgent,
  createConversation,
  getAgent,
  getStreamEventsUrl,
  listAgents,
  type StreamItem,
  updateAgent,
} from './generated';
import { type JourneyResult, UNKNOWN_AGENT } from './result.ts';

export async function journey(): Promise<JourneyResult> {
  const created = await createAgent({ name: 'Echo', model: 'rehearsal/echo' });
  if (created.status !== 201) throw new Error(created.data.message);
  const { agent_id } = created.data.data;
  const etag = created.headers.get('etag') ?? '';

  const begun = await createConversation(agent_id, { message: 'Hello!' });
  if (begun.status !== 201) throw new Error(begun.data.message);
  const answer = await follow(begun.data.data.session_id);

  await createAgent({ name: 'Second', model: 'rehearsal/echo' });
  const first = await listAgents({ limit: 1 });
  if (first.status !== 200 || !first.data.page.next_cursor) throw new Error('There is no second page.');
  const second = await listAgents({ limit: 1, cursor: first.data.page.next_cursor });
  if (second.status !== 200) throw new Error('The second page is an error.');

  const unknown = await getAgent(UNKNOWN_AGENT);
  if (unknown.status !== 404) throw new Error('The unknown agent exists.');
  const options = { headers: { 'If-Match': etag } };
  const changed = await updateAgent(agent_id, { name: 'Renamed', system: 'Repeat the message.' }, options);
  if (changed.status !== 200) throw new Error('The change is an error.');
  const conflict = await updateAgent(agent_id, { name: 'Lost' }, options);
  if (conflict.status !== 412) throw new Error('The outdated change is no conflict.');
  return {
    answer,
    pages: [first.data.data.length, second.data.data.length],
    unknownAgent: [unknown.data.code, unknown.data.error.owner],
    outdatedChange: [conflict.status, conflict.data.code],
    newName: changed.data.data.name,
  };
}

/** Returns the text of the agent when the session is idle. */
async function follow(sessionId: string): Promise<string> {
  const { body } = await fetch(getStreamEventsUrl(sessionId));
  if (!body) throw new Error('The stream has no body.');
  const frames = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  let answer = '';
  for await (const frame of frames) {
    const item: StreamItem = JSON.parse(frame.data);
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
