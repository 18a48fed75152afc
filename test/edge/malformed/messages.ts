import fc from 'fast-check';
import { ABSENT, invalidContent, validContent } from './contents.ts';
import { invalidVariants } from './json-bodies.ts';
import { LOCATE, type Objects } from './objects.ts';
import {
  asJson,
  jsonRequests,
  type MalformedOperation,
  merged,
  waitSeconds,
  withInvalidHeader,
  word,
} from './request-forms.ts';
import { invalidOverrides } from './settings.ts';

const { type: _, ...clientTool } = LOCATE;
const overrides = fc.record(
  {
    model: fc.constant('rehearsal/echo'),
    system: fc.constant({ mode: 'append', text: 'Be short.' }),
    tools: fc.constant([{ name: 'bash', permission: 'deny' }]),
    client_tools: fc.constant([clientTool]),
    model_options: fc.constant({ temperature: 1 }),
    max_steps: fc.integer({ min: 1, max: 1_000 }),
    budget: fc.constant({ max_tokens: 10, max_turn_seconds: 10 }),
    output_schema: fc.constantFrom<unknown>({ type: 'object', properties: { a: { type: 'string' } } }, true),
  },
  { requiredKeys: [] },
);

const invalidFile = (upload: string) =>
  fc.oneof(
    word.map((text) => ({ path: `../${text}`, upload_id: upload })),
    fc.constantFrom('', '/a', 'a/', 'a\0', '.ahs-x').map((path) => ({ path, upload_id: upload })),
    word.map((text) => ({ path: 'a', upload_id: `upl_${text}` })),
    fc.constant({ path: 'a', upload_id: `upl_${ABSENT}` }),
  );

const conversations =
  (pathOf: (objects: Objects) => string): MalformedOperation['requests'] =>
  (objects, fits) => {
    const { upload } = objects;
    const content = validContent(upload);
    const file = { path: 'data/a.png', upload_id: upload };
    const own = fc.record(
      {
        message: fc.oneof(
          content,
          content.map((inner) => ({ content: inner })),
        ),
        files: fc.constant([file]),
        title: fc.string({ maxLength: 20 }),
        metadata: fc.constant({ team: 'blue' }),
      },
      { requiredKeys: [] },
    );
    const valid = merged(own, overrides, waitSeconds);
    const refused = fc.oneof(
      invalidContent.map((inner) => ({ message: inner })),
      invalidContent.map((inner) => ({ message: { content: inner } })),
      invalidFile(upload).map((one) => ({ files: [file, one] })),
      fc.constant({ files: [file, file] }),
      fc.constantFrom('\0', '\ud800').map((title) => ({ title })),
      invalidOverrides,
    );
    const invalid = fc.oneof(invalidVariants(valid, fits), asJson(merged(valid, refused)));
    const path = `${pathOf(objects)}/conversations`;
    return fc.oneof(
      { arbitrary: jsonRequests('POST', path, { valid, invalid }), weight: 15 },
      { arbitrary: withInvalidHeader('POST', path, valid), weight: 1 },
    );
  };

/** Operations with the content of a message and overrides. */
export const MESSAGE_OPERATIONS: MalformedOperation[] = [
  {
    name: 'POST /agents/{agent_id}/conversations',
    operationId: 'createConversation',
    requests: conversations(({ agent }) => `/agents/${agent}`),
  },
  {
    name: 'POST /assistants/{assistant_id}/conversations',
    operationId: 'createAssistantConversation',
    requests: conversations(({ assistant }) => `/assistants/${assistant}`),
  },
  {
    name: 'POST /sessions/{session_id}/messages',
    operationId: 'sendMessage',
    requests({ session, upload }, fits) {
      const own = fc.record(
        {
          content: validContent(upload),
          busy_policy: fc.constantFrom('enqueue', 'reject', 'interrupt'),
          pinned: fc.boolean(),
        },
        { requiredKeys: ['content'] },
      );
      const steer = fc.constant({ busy_policy: 'steer' });
      const valid = fc.oneof(merged(own, overrides, waitSeconds), merged(own, waitSeconds, steer));
      const refused = fc.oneof(
        invalidContent.map((content) => ({ content })),
        invalidOverrides,
        fc.constant({ busy_policy: 'steer', max_steps: 1 }),
        fc.constantFrom('a', 'é').map((text) => ({ content: text.repeat(16 * 1024 + 1), pinned: true })),
      );
      const invalid = fc.oneof(invalidVariants(valid, fits), asJson(merged(valid, refused)));
      const path = `/sessions/${session}/messages`;
      return fc.oneof(
        { arbitrary: jsonRequests('POST', path, { valid, invalid }), weight: 15 },
        { arbitrary: withInvalidHeader('POST', path, valid), weight: 1 },
      );
    },
  },
];
