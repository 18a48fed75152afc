import fc from 'fast-check';
import { ANSWER_OPERATIONS } from './answers.ts';
import { CONDITIONAL_OPERATIONS } from './conditions.ts';
import { ABSENT } from './contents.ts';
import { BYTE_OPERATIONS } from './files.ts';
import { invalidVariants } from './json-bodies.ts';
import { MESSAGE_OPERATIONS } from './messages.ts';
import { LOCATE } from './objects.ts';
import { invalidFilters, notWithin, type QueryPair, unknownParameter, withQuery } from './queries.ts';
import {
  asJson,
  jsonRequests,
  type MalformedOperation,
  merged,
  withInvalidHeader,
  word,
} from './request-forms.ts';
import { invalidClientTool, invalidSchema } from './settings.ts';

const settings = fc.record(
  {
    tools: fc.constant([{ name: 'bash', permission: 'deny' }, LOCATE]),
    output_schema: fc.constantFrom<unknown>({ type: 'object' }, true, null),
    overridable: fc.subarray(['model', 'system', 'tools', 'client_tools', 'output_schema']),
  },
  { requiredKeys: [] },
);
/** Settings of an agent that match the schema and are refused. */
const refusedSettings = fc.oneof(
  invalidClientTool.map((tool) => ({ tools: [{ type: 'client', ...tool }] })),
  invalidClientTool.map((tool) => ({ tools: [LOCATE, { type: 'client', ...tool }] })),
  fc.constant({ tools: [LOCATE, LOCATE] }),
  invalidSchema.map((output_schema) => ({ output_schema })),
  word.map((text) => ({ name: `A\0${text}` })),
);

/** Requests that set the tools, the output schema and the overridable settings of an agent. */
const agentRequests = (method: string, path: string, required: object, fits: (body: unknown) => boolean) => {
  const valid = merged(fc.constant(required), settings);
  const invalid = fc.oneof(invalidVariants(valid, fits), asJson(merged(valid, refusedSettings)));
  return jsonRequests(method, path, { valid, invalid });
};

const invalidTurnId = fc.oneof(
  word.map((text) => `trn_${text}`),
  word.map((text) => `${text}?`),
  fc.constantFrom(`trn_${ABSENT}`, `ses_${ABSENT}`, 'trn_', '%00'),
);
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

/** The operations of which malformed requests must be refused without an effect. */
export const OPERATIONS: MalformedOperation[] = [
  ...MESSAGE_OPERATIONS,
  ...ANSWER_OPERATIONS,
  ...BYTE_OPERATIONS,
  {
    name: 'POST /agents',
    operationId: 'createAgent',
    requests: (_, fits) => agentRequests('POST', '/agents', { name: 'A', model: 'rehearsal/echo' }, fits),
  },
  {
    name: 'PATCH /agents/{agent_id}',
    operationId: 'updateAgent',
    requests: ({ agent }, fits) => agentRequests('PATCH', `/agents/${agent}`, {}, fits),
  },
  {
    name: 'POST /sessions/{session_id}/turns/{turn_id}/regenerate',
    requests({ session, turn }) {
      const path = (id: string) => `/sessions/${session}/turns/${id}/regenerate`;
      return fc.oneof(
        invalidTurnId.map((id) => ({ method: 'POST', path: path(encoded(id)) })),
        unknownParameter.map((pair) => ({ method: 'POST', path: withQuery(path(turn), [pair]) })),
        withInvalidHeader('POST', path(turn)),
      );
    },
  },
  {
    name: 'GET /sessions/{session_id}/turns/{turn_id}',
    requests({ session, turn }) {
      const path = (id: string) => `/sessions/${session}/turns/${id}`;
      const seconds = notWithin(0, 60);
      return fc.oneof(
        seconds.map((value) => ({ method: 'GET', path: withQuery(path(turn), [['wait_seconds', value]]) })),
        fc.tuple(seconds, unknownParameter).map(([value, pair]) => ({
          ...{ method: 'GET', path: withQuery(path(turn), [['wait_seconds', value], pair]) },
        })),
        fc.constant<QueryPair>(['wait_seconds', '1']).map((pair) => ({
          ...{ method: 'GET', path: withQuery(path(turn), [pair, pair]) },
        })),
        invalidTurnId.map((id) => ({ method: 'GET', path: `${path(encoded(id))}?wait_seconds=60` })),
      );
    },
  },
  {
    name: 'the filters of lists',
    requests: ({ agent }) =>
      fc
        .tuple(
          fc.constantFrom(
            '/agents',
            '/assistants',
            '/sessions',
            '/admin/sessions',
            `/agents/${agent}/sessions`,
          ),
          invalidFilters,
        )
        .map(([path, query]) => ({ method: 'GET', path: withQuery(path, query) })),
  },
  ...CONDITIONAL_OPERATIONS,
];
