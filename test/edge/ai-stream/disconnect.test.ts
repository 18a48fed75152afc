import { DefaultChatTransport, type UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { ASKS, type ChatClient, createChatClient, SUM, textOf } from './chat-client.ts';
import { MemoryChat } from './memory-chat.ts';

/** Writes for minutes. */
const SLOW = [{ text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 }];

describe('on_disconnect of the AI SDK stream', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const chatOf = (session: string, query: string) =>
    new MemoryChat({
      id: session,
      transport: new DefaultChatTransport<UIMessage>({ api: client.urlOf(session) + query }),
    });
  const statusOf = async (session: string) =>
    ((await client.turnOf(session)) as unknown as { status: string }).status;
  /** Sends a message and stops the chat when text of the answer has arrived. Returns that text. */
  async function stopEarly(session: string, query: string) {
    const chat = chatOf(session, query);
    const sending = chat.sendMessage({ text: 'tell' });
    const shown = () => (chat.lastMessage?.role === 'assistant' ? textOf(chat.lastMessage) : '');
    await until('text has arrived', () => shown() !== '');
    await chat.stop();
    await sending;
    return shown();
  }

  it('leaves the turn running by default', async () => {
    for (const query of ['', '?on_disconnect=continue']) {
      const session = await client.begin(SLOW);
      await stopEarly(session, query);
      const other = chatOf(session, '');
      const resuming = other.resumeStream();
      await until('the answer goes on', () => (other.lastMessage?.parts.length ?? 0) > 1);
      expect(await statusOf(session)).toBe('in_progress');
      await client.api.post(`/sessions/${session}/interrupt`);
      await resuming;
    }
  });

  it('interrupts the turn with interrupt, and keeps its text', async () => {
    const session = await client.begin(SLOW);
    const shown = await stopEarly(session, '?on_disconnect=interrupt');
    await client.ended(session);
    expect(await statusOf(session)).toBe('interrupted');
    const { data } = (await client.api.get(`/sessions/${session}/ai-messages`)).body;
    expect(textOf(data.at(-1) as UIMessage).startsWith(shown)).toBe(true);
  });

  it('interrupts the turn that a client has resumed with interrupt', async () => {
    const session = await client.begin(SLOW);
    await stopEarly(session, '');
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(`${client.urlOf(session)}?on_disconnect=interrupt`, { signal });
    await response.body?.getReader().read();
    controller.abort();
    await client.ended(session);
    expect(await statusOf(session)).toBe('interrupted');
  });

  it('does not interrupt a turn that has ended, that waits for an approval, or another one', async () => {
    const session = await client.begin([SUM, { text: 'Well.' }], { tools: ASKS });
    await chatOf(session, '?on_disconnect=interrupt').sendMessage({ text: 'one' });
    expect(await statusOf(session)).toBe('blocked');
    const controller = new AbortController();
    const { signal } = controller;
    const body = '{"content":"two"}';
    const headers = { 'Content-Type': 'application/json' };
    const url = `${client.urlOf(session)}?on_disconnect=interrupt`;
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.body?.getReader().read();
    controller.abort();
    // The queued turn is removed, and the one before it still waits.
    await until('the turn is removed', async () => (await statusOf(session)) === 'cancelled');
    const { data } = (await client.api.get(`/sessions/${session}/turns`)).body;
    expect(data).toMatchObject([{ status: 'blocked' }, { status: 'cancelled' }]);
  });
});
