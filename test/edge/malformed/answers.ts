import fc from 'fast-check';
import { ABSENT, invalidContent, invalidPart, invalidSentPart, validContent } from './contents.ts';
import { invalidVariants, odd } from './json-bodies.ts';
import { withQuery } from './queries.ts';
import { asJson, jsonRequests, type MalformedOperation, withInvalidHeader, word } from './request-forms.ts';

/** Results of the calls of the waiting session that match the schema and are refused. */
const invalidResults = fc.oneof(
  invalidPart.map((part) => ({ tool_use_id: 'call_1_1', output: [part] })),
  odd.map((output) => ({ tool_use_id: 'call_1_1', output, error: 'x' })),
  word.map((text) => ({ tool_use_id: `call_1_${text}?`, output: 1 })),
  odd.filter((size) => size !== 'small').map((size) => ({ tool_use_id: 'call_1_2', output: { size } })),
  odd.map((extra) => ({ tool_use_id: 'call_1_2', output: { size: 'small', extra } })),
  odd.map((output) => ({ tool_use_id: 'call_1_2', output })),
  word.map((text) => ({ tool_use_id: 'call_1_1', output: { text: `${text}\0` } })),
  word.map((text) => ({ tool_use_id: 'call_1_1', error: `${text}\ud800` })),
  fc.constant({ tool_use_id: 'call_1_1' }),
);

const fromUser = (parts: unknown) => ({ messages: [{ id: 'm', role: 'user', parts }] });
const fromAssistant = (...parts: unknown[]) => ({ messages: [{ id: 'm', role: 'assistant', parts }] });
const OUTPUT = { type: 'tool-locate', toolCallId: 'call_1_1', state: 'output-available', input: {} };
const APPROVAL = { type: 'dynamic-tool', toolCallId: 'call_1_1', state: 'approval-responded' };
const HELLO = { type: 'text', text: 'Hello' };

/** Requests of AI SDK that match the schema and are refused. */
const invalidSdkRequests: fc.Arbitrary<object> = fc.oneof(
  invalidSentPart.map((part) => fromUser([HELLO, part])),
  odd.filter((parts) => !Array.isArray(parts)).map(fromUser),
  fc.array(word).map((names) => fromUser(names.map((name) => ({ type: `data-${name}`, data: 1 })))),
  odd.filter((role) => role !== 'user').map((role) => ({ messages: [{ role, parts: [HELLO] }] })),
  odd.map((part) => fromAssistant(part)),
  word.map((url) => fromAssistant({ ...OUTPUT, output: [{ type: 'file', mediaType: 'image/png', url }] })),
  odd
    .filter((id) => id !== 'call_1_1')
    .map((toolCallId) => fromAssistant({ ...OUTPUT, toolCallId, output: 1 })),
  word.map((text) => fromAssistant({ ...OUTPUT, output: `${text}\0` })),
  odd
    .filter((text) => typeof text !== 'string')
    .map((errorText) => fromAssistant({ ...OUTPUT, state: 'output-error', errorText })),
  odd.map((approval) => fromAssistant({ ...APPROVAL, approval })),
  word.map((text) => fromAssistant({ ...APPROVAL, approval: { id: `apr_${text}`, approved: true } })),
  fc.constant(fromAssistant({ ...APPROVAL, approval: { id: `apr_${ABSENT}`, approved: true } })),
  fc.constant({ ...fromUser([HELLO]), content: 'Hi' }),
  fc.constant({ content: 'Hi', trigger: 'regenerate-message' }),
  fc.constant({ trigger: 'regenerate-message', messageId: `trn_${ABSENT}` }),
  fc.constant({ ...fromAssistant(HELLO), trigger: 'regenerate-message' }),
  fc.constant({}),
  invalidContent.map((content) => ({ content })),
);

/** Operations that answer tool calls, and the operation of AI SDK, which also sends messages. */
export const ANSWER_OPERATIONS: MalformedOperation[] = [
  {
    name: 'POST /sessions/{session_id}/tool-results',
    operationId: 'submitToolResult',
    requests({ waiting }, fits) {
      const result = fc.record({ tool_use_id: fc.constantFrom('call_1_1', 'call_1_2') });
      const valid = fc.oneof(
        fc.tuple(result, odd).map(([one, output]) => ({ ...one, output })),
        fc.tuple(result, fc.string()).map(([one, error]) => ({ ...one, error })),
      );
      const invalid = fc.oneof(invalidVariants(valid, fits), asJson(invalidResults));
      return jsonRequests('POST', `/sessions/${waiting}/tool-results`, { valid, invalid });
    },
  },
  {
    name: 'POST /sessions/{session_id}/ai-stream',
    operationId: 'streamTurn',
    requests({ waiting, upload }, fits) {
      const valid = fc.oneof<fc.Arbitrary<Record<string, unknown>>[]>(
        validContent(upload).map((content) => ({ content })),
        fc.constant({ ...fromUser([HELLO]), id: 'chat', trigger: 'submit-message', messageId: 'm' }),
        fc.constant(fromAssistant({ ...OUTPUT, output: 1 })),
      );
      const path = `/sessions/${waiting}/ai-stream`;
      const invalid = fc.oneof(invalidVariants(valid, fits), asJson(invalidSdkRequests));
      const options = fc.oneof(
        word
          .filter((text) => !/^[67]$/.test(text))
          .map((version) => ({ query: ['ai_sdk', version] as const })),
        word.map((text) => ({ query: ['on_disconnect', text] as const })),
        fc.constantFrom('5', '8', '', '6, 7', '7.0').map((version) => ({ header: version })),
      );
      const withOptions = fc.tuple(asJson(valid), options).map(([body, option]) => ({
        method: 'POST',
        path: 'query' in option ? withQuery(path, [option.query]) : path,
        headers: {
          'Content-Type': 'application/json',
          ...('header' in option && { 'x-ahs-ai-sdk': option.header }),
        },
        body,
      }));
      return fc.oneof(
        { arbitrary: jsonRequests('POST', path, { valid, invalid }), weight: 15 },
        { arbitrary: fc.oneof(withOptions, withInvalidHeader('POST', path, valid)), weight: 2 },
      );
    },
  },
];
