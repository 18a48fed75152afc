import { describe, expect, it } from 'vitest';
import { openProvider } from '../../support/providers/server.ts';
import { message } from './fake-sessions.ts';
import { PROTOCOLS } from './model-step-fixture.ts';
import { storedPart, toolCallEvents } from './part-events.ts';
import { openTestRunner, outcomeOf } from './runner-fixture.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const PDF = Buffer.from('%PDF-1.7');
const IMAGE_BASE64 = PNG.toString('base64');
const PDF_BASE64 = PDF.toString('base64');

/** How each protocol carries an image, a PDF document and a text file in a user message. */
const USER_PARTS: Record<string, object[]> = {
  anthropic: [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE_BASE64 } },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF_BASE64 },
      title: 'a.pdf',
    },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a,b\n1,2' },
      title: 'a.csv',
    },
  ],
  openai: [
    { type: 'input_image', image_url: `data:image/png;base64,${IMAGE_BASE64}` },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF_BASE64}` },
    { type: 'input_text', text: '<file name="a.csv" media_type="text/csv">\na,b\n1,2\n</file>' },
  ],
  'local-1': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE_BASE64}` } },
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF_BASE64}` } },
    { type: 'text', text: '<file name="a.csv" media_type="text/csv">\na,b\n1,2\n</file>' },
  ],
};

/** How each protocol carries an image in a tool result, or behind it. */
const TOOL_RESULT: Record<string, object> = {
  anthropic: {
    type: 'tool_result',
    tool_use_id: 'call_1',
    content: [
      { type: 'text', text: 'Here:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE_BASE64 } },
    ],
  },
  openai: {
    type: 'function_call_output',
    call_id: 'call_1',
    output: [
      { type: 'input_text', text: 'Here:' },
      { type: 'input_image', image_url: `data:image/png;base64,${IMAGE_BASE64}` },
    ],
  },
  'local-1': {
    role: 'user',
    content: [
      { type: 'text', text: 'The images and files of the messages before:' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE_BASE64}` } },
    ],
  },
};

describe.each(PROTOCOLS)('the request to $model', (protocol) => {
  async function begin() {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await openProvider(protocol));
    server.enqueue({ parts: [{ text: 'I see.' }] });
    const fixture = stack.use(await openTestRunner({ providers: protocol.settings(server.url) }));
    return { server, fixture, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  it('carries images, documents and text files in the form of the provider', async () => {
    await using turn = await begin();
    const { files } = turn.fixture;
    const content = [
      { type: 'text', text: 'Compare.' },
      storedPart(files, PNG, { name: 'a.png' }),
      storedPart(files, PDF, { type: 'file', media_type: 'application/pdf', name: 'a.pdf' }),
      storedPart(files, Buffer.from('a,b\n1,2'), { type: 'file', media_type: 'text/csv', name: 'a.csv' }),
    ];
    const messages = [message('trn_1', 1, 'user.message', content)];
    turn.fixture.queueTurns({ model: protocol.model }, { turnId: 'trn_1', messages });
    const journal = await turn.fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({ $case: 'completed' });
    const { body } = turn.server.requests[0] ?? {};
    const sent = (body?.messages ?? body?.input) as { role: string; content: object[] }[];
    expect(sent.at(-1)?.content.slice(1)).toMatchObject(USER_PARTS[protocol.name] ?? []);
  });

  it('carries an image of a tool result', async () => {
    await using turn = await begin();
    const output = [{ type: 'text', text: 'Here:' }, storedPart(turn.fixture.files, PNG)];
    const messages = [
      message('trn_1', 1, 'user.message', 'Take a photo'),
      ...toolCallEvents('trn_1', 2, output),
    ];
    turn.fixture.queueTurns({ model: protocol.model }, { turnId: 'trn_1', messages });
    const journal = await turn.fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({ $case: 'completed' });
    const { body } = turn.server.requests[0] ?? {};
    const sent = (body?.messages ?? body?.input) as { content?: object[] }[];
    const items = protocol.name === 'anthropic' ? sent.flatMap(({ content = [] }) => content) : sent;
    expect(items.at(-1)).toMatchObject(TOOL_RESULT[protocol.name] ?? {});
  });
});
