import {
  chunksOf,
  frame,
  type MessageContent,
  type OutputPart,
  type ProviderProtocol,
  type StreamedResponse,
  textsIn,
} from './protocol.ts';

const MODEL = 'meta-llama/Llama-3.1-8B';
const KEY = 'gsk-0123456789-test';

/** https://platform.openai.com/docs/api-reference/chat-streaming, as other servers implement it. */
export const compatible: ProviderProtocol = {
  name: 'local-1',
  model: `local-1/${MODEL}`,
  path: '/api/v1/chat/completions',
  key: KEY,
  credential: ['authorization', `Bearer ${KEY}`],
  settings: (url) => ({
    modelEndpoints: { 'local-1': `${url}/api/v1`, other: 'http://127.0.0.1:1/v1' },
    modelEndpointKeys: { 'local-1': KEY, other: 'another key' },
  }),
  streamStart: ({ parts }) => [
    chunk({ role: 'assistant', content: '' }),
    ...deltasOf(parts).map((one) => chunk(one)),
  ],
  streamEnd: (response) => {
    const { input = 1, output = 1, cached = 0, reasoning = 0 } = response.tokens ?? {};
    const usage = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
    return [chunk({}, reason(response)), frame({ ...CHUNK, choices: [], usage }), frame('[DONE]')];
  },
  streamError: (fault) => frame({ error: ERRORS[fault] }),
  errorBody: ({ kind, message }) => ({ error: { message, type: kind, param: null, code: null } }),
  problem({ messages }) {
    for (const { role, content } of messages as { role: string; content: MessageContent }[]) {
      const isEmpty = content?.length === 0 || textsIn(content).includes('');
      if (role === 'user' && isEmpty) return 'The content of a user message must not be empty.';
    }
    return undefined;
  },
};

const CHUNK = { id: 'chatcmpl-test', object: 'chat.completion.chunk', created: 1_767_225_600, model: MODEL };

const ERRORS = {
  overloaded: { message: 'The engine is overloaded', type: 'InternalServerError', code: 503 },
  limited: { message: 'Too many requests', type: 'RateLimitError', code: null },
  'too long': {
    message: "This model's maximum context length is 8192 tokens.",
    type: 'BadRequestError',
    code: 400,
  },
};

function chunk(delta: object, finish_reason: string | null = null): string {
  return frame({ ...CHUNK, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
}

function reason({ parts, finishReason }: StreamedResponse): string {
  return finishReason ?? (parts.some((part) => 'call' in part) ? 'tool_calls' : 'stop');
}

/** The arguments of parallel calls are interleaved. */
function deltasOf(parts: OutputPart[]): object[] {
  const deltas: object[] = [];
  const open: object[][] = [];
  for (const part of parts) {
    if ('text' in part) deltas.push(...chunksOf(part.text).map((content) => ({ content })));
    else if ('thought' in part)
      deltas.push(...chunksOf(part.thought).map((reasoning_content) => ({ reasoning_content })));
    else {
      const index = open.length;
      const beginning = {
        index,
        id: part.call,
        type: 'function',
        function: { name: part.name, arguments: '' },
      };
      const rest = chunksOf(part.input).map((part) => ({ index, function: { arguments: part } }));
      open.push([beginning, ...rest]);
    }
  }
  for (let at = 0; open.some((call) => at < call.length); at++) {
    for (const call of open) if (call[at]) deltas.push({ tool_calls: [call[at]] });
  }
  return deltas;
}
