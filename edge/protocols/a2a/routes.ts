import { once } from '../../../lib/once.ts';
import { route } from '../../route.ts';
import { CONTENT_ERRORS } from '../../schemas/content.ts';

const loadCard = once(() => import('./card.ts'));
const loadServing = once(() => import('./serve.ts'));

const DOCUMENT = 'https://a2a-protocol.org/latest/specification';
const MESSAGE = {
  type: 'object',
  required: ['jsonrpc'],
  properties: { jsonrpc: { const: '2.0' } },
  additionalProperties: true,
  description: 'A JSON-RPC message of A2A 1.0.',
  externalDocs: { url: `${DOCUMENT}/#9-json-rpc-protocol-binding` },
};
const CARD = {
  type: 'object',
  description: 'The agent card of A2A 1.0.',
  externalDocs: { url: `${DOCUMENT}/#441-agentcard` },
};
const TASK = {
  id: 'trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8-01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  contextId: 'ses_01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
};
const REQUEST = {
  schema: MESSAGE,
  example: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: TASK.id } },
};
const RESPONSE = { schema: MESSAGE, example: { jsonrpc: '2.0', id: 1, result: TASK } };

/** A2A 1.0 over JSON-RPC. Bodies and errors have its shapes. */
export const a2aRoutes = [
  route.raw({
    method: 'GET',
    path: '/a2a/{agent_id}/.well-known/agent-card.json',
    access: 'mcp_or_write',
    security: [{}, { token: [] }],
    operationId: 'a2aGetAgentCard',
    tag: 'Protocols',
    summary: 'Read an agent card',
    description:
      'Describes the agent to A2A clients. Without a credential it exists only if `exposure.a2a` of the agent is `public`; ' +
      'with `on`, a credential with the scope `mcp` or `write` is required.',
    responses: {
      200: {
        description: 'The card.',
        content: { 'application/json': { schema: CARD, example: { name: 'Support', version: '1' } } },
      },
    },
    errors: ['AGENT_NOT_FOUND'],
    config: { protocol: 'a2a', authorizesItself: true },
    createHandler: (context) => async (request, reply) => {
      const { sendCard } = await loadCard();
      return sendCard(context, request, reply);
    },
  }),

  route.raw({
    method: 'POST',
    path: '/a2a/{agent_id}',
    operationId: 'a2a',
    tag: 'Protocols',
    summary: 'Agent2Agent protocol',
    description:
      `The body is one JSON-RPC request of A2A 1.0 (${DOCUMENT}), with the header \`A2A-Version: 1.0\`. A context is a session ` +
      'and a task is a turn. Offered are SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask and ' +
      'SubscribeToTask. A client that disconnects does not stop the agent. A repeated `messageId` is the same task. Errors have ' +
      'the form of JSON-RPC, with our error code as `reason` in `error.data` unless A2A defines one.',
    access: 'mcp_or_write',
    security: [{ token: [] }],
    requestBody: { required: true, content: { 'application/json': REQUEST } },
    responses: {
      200: {
        description: 'The result, or an error of A2A. The methods with streams answer with events.',
        content: { 'application/json': RESPONSE, 'text/event-stream': RESPONSE },
      },
    },
    errors: [
      ...(['AGENT_NOT_FOUND', 'AGENT_NOT_RUNNABLE', 'ENVIRONMENT_DISABLED', 'QUOTA_EXCEEDED'] as const),
      ...(['SESSION_ARCHIVED', 'SESSION_TERMINATED', 'SESSION_BUSY', 'INVALID_CURSOR'] as const),
      ...([
        'APPROVAL_NOT_FOUND',
        'APPROVAL_ALREADY_DECIDED',
        'TOOL_CALL_NOT_FOUND',
        'TOOL_CALL_CLOSED',
      ] as const),
      ...(['TOOL_RESULT_CONFLICT', 'IDEMPOTENCY_KEY_CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'] as const),
      ...CONTENT_ERRORS,
    ],
    config: { protocol: 'a2a', longLived: true },
    createHandler: (context) => async (request, reply) => {
      const { serveA2a } = await loadServing();
      return serveA2a(context, request, reply);
    },
  }),
];
