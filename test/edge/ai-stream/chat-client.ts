import { type ChatInit, DefaultChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import { expect } from 'vitest';
import { createApi } from '../../support/api.ts';
import { readStream } from '../../support/stream.ts';
import type { System } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { MemoryChat } from './memory-chat.ts';
import { joined } from './read-stream.ts';

export const STORY = 'a long story '.repeat(40);
export const SLOW = [{ text: STORY, chunk_chars: 4, delay_ms: 15 }];
export const SUM = { tool: 'calculator', input: { expression: '6 * 7' } };
export const ASKS = [{ name: 'calculator', permission: 'ask' }];

export type ChatClient = ReturnType<typeof createChatClient>;

/** Creates sessions of scripted agents, and AI SDK chats with them. */
export function createChatClient(system: System) {
  const api = createApi(system.url);
  const urlOf = (session: string) => `${system.url}/api/v1/sessions/${session}/ai-stream`;
  const transportOf = (session: string) => new DefaultChatTransport<UIMessage>({ api: urlOf(session) });
  return {
    api,
    urlOf,
    transportOf,
    async begin(steps: object[], members: object = {}): Promise<string> {
      const agent = await api.createAgent({
        model: 'rehearsal/script',
        model_options: { steps },
        ...members,
      });
      return String((await api.post(`/agents/${agent}/conversations`)).body.data.session_id);
    },
    chatOf: (session: string, init: Partial<ChatInit<UIMessage>> = {}) =>
      new MemoryChat({ id: session, transport: transportOf(session), ...init }),
    post: (session: string, body: string, headers: Record<string, string> = {}) =>
      fetch(urlOf(session), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body,
      }),
    async turnOf(session: string) {
      const { body } = await api.get(`/sessions/${session}/turns`);
      return (body.data as Turn[]).at(-1);
    },
    ended: (session: string) =>
      until('the turn has ended', async () => {
        const { body } = await api.get(`/sessions/${session}`);
        return body.data.status === 'idle' && body.data.current_turn_id === null;
      }),
  };
}

interface Turn {
  turn_id: string;
  queued_seq: number;
  error: { message: string } | null;
}

/** The text parts of a message, joined. */
export const textOf = ({ parts }: UIMessage) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The parts of the last message of a chat. */
export const lastOf = (chat: MemoryChat) => joined(chat.lastMessage);

export const chunkOf = (data: string | undefined): UIMessageChunk[] =>
  data === undefined || data === '[DONE]' ? [] : [JSON.parse(data)];

export async function chunksFrom(url: string, headers = {}): Promise<UIMessageChunk[]> {
  const frames = await readStream(url, () => false, headers);
  expect(frames.at(-1)?.data).toBe('[DONE]');
  return frames.flatMap(({ data }) => chunkOf(data));
}

/** Reads frames of a response until `enough` is true. */
export async function framesOf(
  response: Response,
  enough: (frames: { id: string | undefined; data: string }[]) => boolean,
): Promise<{ id: string | undefined; data: string }[]> {
  const frames: { id: string | undefined; data: string }[] = [];
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data === undefined) continue;
      frames.push({ id: /^id: (.*)$/m.exec(part)?.[1], data });
      if (enough(frames)) return frames;
    }
  }
  return frames;
}
