import { DefaultChatTransport, type UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { createApi } from '../../support/api.ts';
import { startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { MemoryChat } from './memory-chat.ts';

/** Writes for minutes, so that the answer cannot end before the service. */
const SLOW = [{ text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 }];

describe('the AI SDK stream of a stopping service', () => {
  it('ends without a regular end, so that clients reconnect', async () => {
    await using system = await startSystem();
    const api = createApi(system.url);
    const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps: SLOW } });
    const { body } = await api.post(`/agents/${agent}/conversations`);
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${system.url}/api/v1/sessions/${body.data.session_id}/ai-stream`,
    });
    const notices: string[] = [];
    const chat = new MemoryChat({ transport, onData: ({ type }) => notices.push(type) });
    const sending = chat.sendMessage({ text: 'tell' });
    await until('the first part is received', () => (chat.lastMessage?.parts.length ?? 0) > 1);
    await system[Symbol.asyncDispose]();
    await sending;
    expect(notices).toEqual(['data-draining']);
    expect(chat.status).toBe('error');
  });
});
