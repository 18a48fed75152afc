import { frame, pieces, type Said, type Speech, type Wire } from './wire.ts';

const MODEL = 'claude-sonnet-4-5';
const KEY = 'sk-ant-0123456789-test';

/** https://docs.claude.com/en/docs/build-with-claude/streaming */
export const anthropic: Wire = {
  name: 'anthropic',
  model: `anthropic/${MODEL}`,
  path: '/v1/messages',
  key: KEY,
  credential: ['x-api-key', KEY],
  settings: (url) => ({ anthropicApiKey: KEY, anthropicBaseUrl: `${url}/v1` }),
  beginning: ({ says, tokens }) => [
    event({
      type: 'message_start',
      message: {
        id: 'msg_test',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: tokens?.input ?? 1, output_tokens: 1 },
      },
    }),
    event({ type: 'ping' }),
    ...says.flatMap(block),
  ],
  ending: (speech) => [
    event({
      type: 'message_delta',
      delta: { stop_reason: reason(speech), stop_sequence: null },
      usage: { output_tokens: speech.tokens?.output ?? 1 },
    }),
    event({ type: 'message_stop' }),
  ],
  trouble: (trouble) => event({ type: 'error', error: ERRORS[trouble] }),
  refusal: ({ kind: type, message }) => ({ type: 'error', error: { type, message }, request_id: 'req_test' }),
};

const ERRORS = {
  overloaded: { type: 'overloaded_error', message: 'Overloaded' },
  limited: { type: 'rate_limit_error', message: 'This request would exceed your rate limit' },
  'too long': {
    type: 'invalid_request_error',
    message: 'prompt is too long: 250000 tokens > 200000 maximum',
  },
};

function event(data: { type: string; [name: string]: unknown }): string {
  return frame(data, data.type);
}

function reason({ says, ends }: Speech): string {
  if (ends === 'length') return 'max_tokens';
  return says.some((said) => 'call' in said) ? 'tool_use' : 'end_turn';
}

function block(said: Said, index: number): string[] {
  const { begins, deltas } = contentOf(said);
  return [
    event({ type: 'content_block_start', index, content_block: begins }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

function contentOf(said: Said): { begins: object; deltas: object[] } {
  if ('text' in said) {
    const deltas = pieces(said.text).map((text) => ({ type: 'text_delta', text }));
    return { begins: { type: 'text', text: '' }, deltas };
  }
  if ('call' in said) {
    const deltas = pieces(said.input).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    return { begins: { type: 'tool_use', id: said.call, name: said.name, input: {} }, deltas };
  }
  if (said.thought === '') return { begins: { type: 'redacted_thinking', data: said.seal }, deltas: [] };
  const deltas = pieces(said.thought).map((thinking) => ({ type: 'thinking_delta', thinking }));
  const signature = { type: 'signature_delta', signature: said.seal };
  return { begins: { type: 'thinking', thinking: '', signature: '' }, deltas: [...deltas, signature] };
}
