import { EventSourceParserStream } from 'eventsource-parser/stream';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated';
import { type JourneyResult, UNKNOWN_AGENT } from './result.ts';

type StreamItem = components['schemas']['StreamItem'];

export async function journey(origin: string): Promise<JourneyResult> {
  const client = createClient<paths>({ baseUrl: `${origin}/api/v1` });
  const created = await client.POST('/agents', { body: { name: 'Echo', model: 'rehearsal/echo' } });
  if (!created.data) throw new Error(created.error.message);
  const { agent_id } = created.data.data;
  const etag = created.response.headers.get('etag') ?? '';
  const path = { agent_id };

  const begun = await client.POST('/agents/{agent_id}/conversations', {
    params: { path },
    body: { message: 'Hello!' },
  });
  if (!begun.data) throw new Error(begun.error.message);
  const answer = await follow(client, begun.data.data.session_id);

  await client.POST('/agents', { body: { name: 'Second', model: 'rehearsal/echo' } });
  const first = await client.GET('/agents', { params: { query: { limit: 1 } } });
  const cursor = first.data?.page.next_cursor;
  if (!cursor) throw new Error('There is no second page.');
  const second = await client.GET('/agents', { params: { query: { limit: 1, cursor } } });

  const unknown = await client.GET('/agents/{agent_id}', { params: { path: { agent_id: UNKNOWN_AGENT } } });
  const changed = await client.PATCH('/agents/{agent_id}', {
    params: { path, header: { 'If-Match': etag } },
    body: { name: 'Renamed', system: 'Repeat the message.' },
  });
  const conflict = await client.PATCH('/agents/{agent_id}', {
    params: { path, header: { 'If-Match': etag } },
    body: { name: 'Lost' },
  });
  return {
    answer,
    pages: [first.data?.data.length ?? 0, second.data?.data.length ?? 0],
    unknownAgent: [unknown.error?.code ?? '', unknown.error?.error.owner ?? ''],
    outdatedChange: [conflict.response.status, conflict.error?.code ?? ''],
    newName: changed.data?.data.name ?? '',
  };
}

/** Returns the text of the agent when the session is idle. */
async function follow(client: ReturnType<typeof createClient<paths>>, session_id: string): Promise<string> {
  const { data } = await client.GET('/sessions/{session_id}/events/stream', {
    params: { path: { session_id } },
    parseAs: 'stream',
  });
  if (!data) throw new Error('The stream has no body.');
  const frames = data.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  let answer = '';
  for await (const frame of frames) {
    // The first frame sets the reconnection time and has no data.
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
