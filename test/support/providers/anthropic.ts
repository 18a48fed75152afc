import {
  chunksOf,
  frame,
  type MessageContent,
  type OutputPart,
  type ProviderProtocol,
  type StreamedResponse,
  type StreamedTokens,
  textsIn,
} from './protocol.ts';

const MODEL = 'claude-sonnet-4-5';
const KEY = 'sk-ant-0123456789-test';

/** https://docs.claude.com/en/docs/build-with-claude/streaming */
export const anthropic: ProviderProtocol = {
  name: 'anthropic',
  model: `anthropic/${MODEL}`,
  path: '/v1/messages',
  key: KEY,
  credential: ['x-api-key', KEY],
  settings: (url) => ({ anthropicApiKey: KEY, anthropicBaseUrl: `${url}/v1` }),
  streamStart: ({ parts, tokens }) => [
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
        usage: { ...inputUsage(tokens), output_tokens: 1 },
      },
    }),
    event({ type: 'ping' }),
    ...parts.flatMap(block),
  ],
  streamEnd: (response) => [
    event({
      type: 'message_delta',
      delta: { stop_reason: reason(response), stop_sequence: null },
      usage: {
        output_tokens: response.tokens?.output ?? 1,
        output_tokens_details: { thinking_tokens: response.tokens?.reasoning ?? 0 },
      },
    }),
    event({ type: 'message_stop' }),
  ],
  streamError: (fault) => event({ type: 'error', error: ERRORS[fault] }),
  errorBody: ({ kind: type, message }) => ({
    type: 'error',
    error: { type, message },
    request_id: 'req_test',
  }),
  problem({ messages }) {
    for (const [index, { content }] of (messages as { content: MessageContent }[]).entries()) {
      if (content?.length === 0) return `messages.${index}: user messages must have non-empty content`;
      const texts = textsIn(content);
      if (texts.includes('')) return 'messages: text content blocks must be non-empty';
      if (texts.some((text) => text.trim() === ''))
        return 'messages: text content blocks must contain non-whitespace text';
    }
    return undefined;
  },
};

/** The provider counts cached and cache-written tokens beside the other input tokens. */
function inputUsage({ input = 1, cached = 0, written = 0 }: Partial<StreamedTokens> = {}) {
  return {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
  };
}

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

function reason({ parts, finishReason }: StreamedResponse): string {
  if (finishReason === 'length') return 'max_tokens';
  return parts.some((part) => 'call' in part) ? 'tool_use' : 'end_turn';
}

function block(part: OutputPart, index: number): string[] {
  const { begins, deltas } = contentOf(part);
  return [
    event({ type: 'content_block_start', index, content_block: begins }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

function contentOf(part: OutputPart): { begins: object; deltas: object[] } {
  if ('text' in part) {
    const deltas = chunksOf(part.text).map((text) => ({ type: 'text_delta', text }));
    return { begins: { type: 'text', text: '' }, deltas };
  }
  if ('call' in part) {
    const deltas = chunksOf(part.input).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    return { begins: { type: 'tool_use', id: part.call, name: part.name, input: {} }, deltas };
  }
  if (part.thought === '') return { begins: { type: 'redacted_thinking', data: part.seal }, deltas: [] };
  const deltas = chunksOf(part.thought).map((thinking) => ({ type: 'thinking_delta', thinking }));
  const signature = { type: 'signature_delta', signature: part.seal };
  return { begins: { type: 'thinking', thinking: '', signature: '' }, deltas: [...deltas, signature] };
}
