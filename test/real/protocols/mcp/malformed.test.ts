import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidVariants } from '../../../edge/malformed/json-bodies.ts';
import { createSender, type HttpRequest } from '../../../edge/malformed/send.ts';
import { storedRows } from '../../../edge/malformed/stored-rows.ts';
import { createApi } from '../../../support/api.ts';
import { type System, startInProcess } from '../../../support/system.ts';

const REQUESTS = 10_000;
const SEED = Date.now();
const LIMIT_MS = 900_000;
/** No session and no agent has this id, so that a variant that is valid has no effect either. */
const ABSENT = '7'.repeat(26);

const CALLS = [
  ['create_conversation', { agent_id: `agt_${ABSENT}`, message: 'Hi', wait_seconds: 0 }],
  ['send_message', { session_id: `ses_${ABSENT}`, message: 'Hi', busy_policy: 'enqueue' }],
  ['write_file', { session_id: `ses_${ABSENT}`, path: 'a.txt', content: 'x' }],
  ['answer_approval', { session_id: `ses_${ABSENT}`, approval_id: `apr_${ABSENT}`, decision: 'allow' }],
  ['list_sessions', { limit: 10 }],
] as const;

const TASK = `task_${ABSENT}${ABSENT}${'A'.repeat(43)}`;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a-test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};
const REVISION = { 'MCP-Protocol-Version': '2026-07-28' };

/** A request and the headers that belong to it. */
interface ValidRequest {
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

const valid: ValidRequest[] = [
  ...CALLS.map(([name, args]) => ['tools/call', { name, arguments: args }, name] as const),
  [
    'resources/read',
    { uri: `session:///ses_${ABSENT}/transcript.md` },
    `session:///ses_${ABSENT}/transcript.md`,
  ],
  ...['tasks/get', 'tasks/update', 'tasks/cancel'].map(
    (method) =>
      [
        method,
        { taskId: TASK, ...(method === 'tasks/update' && { inputResponses: { a: { action: 'accept' } } }) },
        TASK,
      ] as const,
  ),
  ['tools/list', {}, undefined],
  [
    'initialize',
    {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: META['io.modelcontextprotocol/clientInfo'],
    },
    undefined,
  ],
].flatMap(([method, params, name]): ValidRequest[] => {
  const message = { jsonrpc: '2.0', id: 1, method };
  const headers = {
    'Mcp-Method': String(method),
    ...(name === undefined ? {} : { 'Mcp-Name': String(name) }),
  };
  return [
    { body: { ...message, params }, headers: { 'MCP-Protocol-Version': '2025-11-25' } },
    {
      body: { ...message, params: { ...(params as object), _meta: META } },
      headers: { ...REVISION, ...headers },
    },
  ];
});

const requests: fc.Arbitrary<HttpRequest> = fc.constantFrom(...valid).chain(({ body, headers }) =>
  invalidVariants(fc.constant(body), () => false).map((text) => ({
    method: 'POST',
    path: '/mcp',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: text,
  })),
);

describe('POST /mcp', () => {
  let system: System;
  beforeAll(async () => {
    system = await startInProcess({});
    await createApi(system.url).createAgent();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('answers malformed messages in the form of JSON-RPC and stores nothing', {
    timeout: LIMIT_MS,
  }, async () => {
    // Errors of 2025-11-25 are streams with one message.
    using sender = createSender(system.url, { readsStreams: true });
    const samples = fc.sample(requests, { numRuns: REQUESTS, seed: SEED });
    const before = await storedRows(system.databaseUrl);
    let refused = 0;
    await sender.sendAll(samples, (request, { status, text }) => {
      const context = `seed ${SEED}: ${String(request.body).slice(0, 2_000)} ${status} ${text.slice(0, 500)}`;
      expect(status, context).toBeLessThan(500);
      if (status === 202) return;
      const [, json = text] = /^data: (.*)$/m.exec(text) ?? [];
      const { jsonrpc, error, result } = JSON.parse(json);
      expect(jsonrpc, context).toBe('2.0');
      expect(error ?? result, context).toBeDefined();
      if (error) expect(Number.isInteger(error.code), context).toBe(true);
      if (error || result.isError) refused++;
    });
    expect(refused).toBeGreaterThan(REQUESTS / 2);
    expect(await storedRows(system.databaseUrl), `seed ${SEED}`).toEqual(before);
  });
});
