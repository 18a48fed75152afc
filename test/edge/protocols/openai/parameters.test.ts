import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../../support/system.ts';
import { createOpenaiClient, type OpenaiClient } from './client.ts';

const RESOURCES = new URL('../../../../node_modules/openai/resources/', import.meta.url);
const CHAT = { path: '/chat/completions', request: { messages: [{ role: 'user', content: 'one' }] } };
const RESPONSES = { path: '/responses', request: { input: 'one' } };
/** Beside these, every parameter that the types of the client declare has no effect and is named. */
const ROUTES = [
  {
    ...CHAT,
    file: 'chat/completions/completions.d.ts',
    type: 'ChatCompletionCreateParamsBase',
    used: ['messages', 'model', 'stream', 'stream_options', 'metadata', 'response_format'],
    // Accepted only with the values that ask for nothing.
    refused: ['audio', 'functions', 'moderation', 'tools', 'web_search_options'],
    plain: ['function_call', 'modalities', 'n', 'tool_choice'],
  },
  {
    ...RESPONSES,
    file: 'responses/responses.d.ts',
    type: 'ResponseCreateParamsBase',
    used: [
      ...['input', 'model', 'instructions', 'stream', 'stream_options', 'metadata', 'text'],
      ...['background', 'conversation', 'previous_response_id'],
    ],
    refused: ['access_programs', 'background_options', 'image', 'moderation', 'prompt', 'tools'],
    plain: ['tool_choice'],
  },
];

/** The names of the members of an interface of the client's type declarations. */
async function membersOf(file: string, type: string): Promise<string[]> {
  const text = await readFile(new URL(file, RESOURCES), 'utf8');
  const [, body = ''] = new RegExp(`^export interface ${type} \\{\\n(.*?)^\\}`, 'ms').exec(text) ?? [];
  return Array.from(body.matchAll(/^ {4}(\w+)\??:/gm), ([, name = '']) => name);
}

describe.each(ROUTES)('the parameters of POST $path', ({ path, request, file, type, ...known }) => {
  let system: System;
  let client: OpenaiClient;
  let model: string;
  let ignored: string[];
  beforeAll(async () => {
    system = await startSystem();
    client = createOpenaiClient(system);
    model = await client.api.createAgent();
    const listed = [...known.used, ...known.refused, ...known.plain];
    const declared = await membersOf(file, type);
    expect(declared).toEqual(expect.arrayContaining(listed));
    ignored = declared.filter((name) => !listed.includes(name));
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const send = (members: object) => client.post(path, { model, ...request, ...members });

  it('that have no effect are named', async () => {
    const { status, headers } = await send(Object.fromEntries(ignored.map((name) => [name, 1])));
    expect(status).toBe(200);
    const names = headers.get('x-ignored-parameters')?.split(', ') ?? [];
    expect(names.toSorted()).toEqual(ignored.toSorted());
  });

  it.each(known.refused)('refuses %s by name', async (name) => {
    expect(await send({ [name]: [{ type: 'any' }] })).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param: expect.stringMatching(`^${name}`) } },
    });
  });

  it('refuses an unknown parameter by name', async () => {
    expect(await send({ other: 1 })).toMatchObject({ status: 400, body: { error: { param: 'other' } } });
  });
});

describe('members of parameters', () => {
  let system: System;
  let client: OpenaiClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createOpenaiClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('that have no effect are named', async () => {
    const model = await client.api.createAgent();
    const text = { format: { type: 'text' }, verbosity: 'low' };
    const named = await client.post(RESPONSES.path, { model, ...RESPONSES.request, text });
    expect([named.status, named.headers.get('x-ignored-parameters')]).toEqual([200, 'text.verbosity']);
    const options = { stream: true, stream_options: { include_usage: true, include_obfuscation: false } };
    const streamed = await client.send('POST', CHAT.path, { model, ...CHAT.request, ...options });
    expect(streamed.headers.get('x-ignored-parameters')).toBe('stream_options.include_obfuscation');
    await streamed.text();
    const plain = { verbosity: null };
    const none = await client.post(RESPONSES.path, { model, ...RESPONSES.request, text: plain });
    expect([none.status, none.headers.get('x-ignored-parameters')]).toEqual([200, null]);
  });
});
