import { describe, expect, it } from 'vitest';
import { readChatRequest } from '../../../../edge/protocols/openai/chat/request.ts';
import { keysOf } from '../../../../edge/protocols/openai/keys.ts';
import type { ChatMessage } from '../../../../edge/protocols/openai/messages.ts';
import { readResponseRequest } from '../../../../edge/protocols/openai/responses/request.ts';
import { instructionsOf, withTranscript } from '../../../../edge/protocols/openai/transcript.ts';

const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
const PIXELS = 'data:image/png;base64,iVBORw0KGgo=';
const message = (role: ChatMessage['role'], text: string): ChatMessage => ({
  role,
  parts: [{ type: 'text', text }],
});
const PAST = [message('system', 'Be brief.'), message('user', 'one'), message('assistant', 'uno')];

const chat = (body: object) =>
  readChatRequest({ model: 'support', messages: [{ role: 'user', content: 'hello' }], ...body });
const response = (body: object) => readResponseRequest({ model: 'support', input: 'hello', ...body });

describe('keys of a chat', () => {
  const keyOf = (past: ChatMessage[], agent = AGENT) => keysOf(agent, past)[0]?.key.toString('hex');

  it('are the same for the same messages in each of their forms', () => {
    const texts = keyOf(readChatRequest(asRequest([...PAST, message('user', 'two')])).past);
    const strings = keyOf(
      chat({
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'one' },
          { role: 'assistant', content: ' uno\n' },
          { role: 'user', content: 'two' },
        ],
      }).past,
    );
    expect(texts).toBe(strings);
    expect(texts).toBe(keyOf(PAST));
  });

  it.each<[string, ChatMessage[]]>([
    ['a text', [PAST[0], PAST[1], message('assistant', 'eins')] as ChatMessage[]],
    ['a role', [message('developer', 'Be brief.'), PAST[1], PAST[2]] as ChatMessage[]],
    ['the order', [PAST[1], PAST[0], PAST[2]] as ChatMessage[]],
    ['the boundary of two messages', [message('user', 'Be brief.one'), PAST[2]] as ChatMessage[]],
  ])('change with %s', (_, past) => {
    expect(keyOf(past)).not.toBe(keyOf(PAST));
  });

  it('change with the agent and with the bytes of an image', () => {
    const withImage = (data: string): ChatMessage[] => [
      { role: 'user', parts: [{ type: 'image', media_type: 'image/png', data }] },
      message('assistant', 'A dot.'),
    ];
    expect(keyOf(PAST, 'agt_01M7XYC91CC5TE06JQWDWRTJVB')).not.toBe(keyOf(PAST));
    expect(keyOf(withImage('AAAA'))).not.toBe(keyOf(withImage('BBBB')));
    expect(keyOf(withImage('AAAA'))).toBe(keyOf(withImage('AAAA')));
  });

  it('name the position after each answer, the newest first', () => {
    const past = [...PAST, message('user', 'two'), message('assistant', 'due')];
    expect(keysOf(AGENT, past).map(({ length }) => length)).toEqual([5, 3]);
    expect(keysOf(AGENT, past)[1]?.key).toEqual(keysOf(AGENT, PAST)[0]?.key);
    expect(keysOf(AGENT, PAST.slice(0, 2))).toEqual([]);
  });
});

describe('messages that a session does not know', () => {
  it('are a transcript before the message, without instructions', () => {
    const [transcript, last] = withTranscript(PAST, message('user', 'two'));
    expect(transcript).toMatchObject({ type: 'text', text: expect.stringContaining('User: one') });
    expect(transcript).toMatchObject({ text: expect.stringContaining('Assistant: uno') });
    expect(transcript).not.toMatchObject({ text: expect.stringContaining('Be brief.') });
    expect(last).toEqual({ type: 'text', text: 'two' });
    expect(instructionsOf(PAST)).toBe('Be brief.');
  });

  it('keep their images', () => {
    const image = { type: 'image' as const, media_type: 'image/png' as const, data: 'AAAA' };
    const parts = withTranscript([{ role: 'user', parts: [image] }], message('user', 'What is it?'));
    expect(parts.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  });

  it('add nothing when there are none', () => {
    expect(withTranscript([], message('user', 'one'))).toEqual([{ type: 'text', text: 'one' }]);
    expect(withTranscript([message('system', 'Be brief.')], message('user', 'one'))).toHaveLength(1);
  });
});

describe('requests of the OpenAI-compatible API', () => {
  it('have images and files as data', () => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: PIXELS, detail: 'low' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } },
    ];
    expect(chat({ messages: [{ role: 'user', content }] }).message.parts).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image', media_type: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'file', media_type: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
    ]);
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: PIXELS, detail: 'auto' }] }];
    expect(response({ input }).message.parts).toEqual([
      { type: 'image', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    ]);
  });

  it.each<[string, object, string]>([
    ['an unknown parameter', { telepathy: true }, '/telepathy'],
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, '/tools'],
    ['functions', { functions: [{ name: 'f' }] }, '/functions'],
    ['several choices', { n: 2 }, '/n'],
    ['audio', { modalities: ['text', 'audio'] }, '/modalities/1'],
    ['an audio member', { audio: { voice: 'alloy' } }, '/audio'],
    ['the format json_object', { response_format: { type: 'json_object' } }, '/response_format'],
    ['no message', { messages: [] }, '/messages'],
    [
      'a last message of the assistant',
      { messages: [{ role: 'assistant', content: 'x' }] },
      '/messages/0/role',
    ],
    ['an empty last message', { messages: [{ role: 'user', content: '' }] }, '/messages/0/content'],
    ['the result of a tool', { messages: [{ role: 'tool', content: 'x' }] }, '/messages/0/role'],
    [
      'a remote image',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/b' } }] },
        ],
      },
      '/messages/0/content/0/image_url/url',
    ],
  ])('are refused with %s, which is named', (_, body, pointer) => {
    expect(() => chat(body)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: expect.arrayContaining([
          expect.objectContaining({ pointer: expect.stringContaining(pointer) }),
        ]),
      }),
    );
  });

  it.each<[string, object, string]>([
    ['an unknown parameter', { telepathy: true }, '/telepathy'],
    ['tools', { tools: [{ type: 'web_search' }] }, '/tools'],
    ['the output of a function', { input: [{ type: 'function_call_output', output: '' }] }, '/input'],
    [
      'a file by id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'x' }] }] },
      '/input',
    ],
    ['two kinds of past', { conversation: 'ses_1', previous_response_id: 'resp_1' }, '/previous_response_id'],
    ['no input', { input: '' }, '/input'],
  ])('for responses are refused with %s, which is named', (_, body, pointer) => {
    expect(() => response(body)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: expect.arrayContaining([
          expect.objectContaining({ pointer: expect.stringContaining(pointer) }),
        ]),
      }),
    );
  });

  it('accept parameters that have no effect, null for members that are optional, and empty tools', () => {
    const ignored = { temperature: 0.2, max_tokens: 10, seed: 1, stop: ['x'], user: 'me', tools: [], n: 1 };
    const absent = { stream: null, metadata: null, response_format: null, n: null, modalities: null };
    expect(chat({ ...ignored, ...absent, tools: null, tool_choice: null })).toMatchObject({
      stream: false,
      metadata: {},
      outputSchema: undefined,
    });
  });
});

function asRequest(messages: ChatMessage[]) {
  return { model: 'support', messages: messages.map(({ role, parts }) => ({ role, content: parts })) };
}
