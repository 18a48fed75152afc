import { frame, pieces, type Said, type Speech, type Wire } from './wire.ts';

const MODEL = 'meta-llama/Llama-3.1-8B';
const KEY = 'gsk-0123456789-test';

/** https://platform.openai.com/docs/api-reference/chat-streaming, as servers of others speak it. */
export const compatible: Wire = {
  name: 'local-1',
  model: `local-1/${MODEL}`,
  path: '/api/v1/chat/completions',
  key: KEY,
  credential: ['authorization', `Bearer ${KEY}`],
  settings: (url) => ({
    modelEndpoints: { 'local-1': `${url}/api/v1`, other: 'http://127.0.0.1:1/v1' },
    modelEndpointKeys: { 'local-1': KEY, other: 'another key' },
  }),
  beginning: ({ says }) => [
    chunk({ role: 'assistant', content: '' }),
    ...deltasOf(says).map((one) => chunk(one)),
  ],
  ending: (speech) => {
    const { input = 1, output = 1 } = speech.tokens ?? {};
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    return [chunk({}, reason(speech)), frame({ ...CHUNK, choices: [], usage }), frame('[DONE]')];
  },
  trouble: (trouble) => frame({ error: ERRORS[trouble] }),
  refusal: ({ kind, message }) => ({ error: { message, type: kind, param: null, code: null } }),
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

function reason({ says, ends }: Speech): string {
  return ends ?? (says.some((said) => 'call' in said) ? 'tool_calls' : 'stop');
}

/** The arguments of parallel calls come mixed. */
function deltasOf(says: Said[]): object[] {
  const deltas: object[] = [];
  const open: object[][] = [];
  for (const said of says) {
    if ('text' in said) deltas.push(...pieces(said.text).map((content) => ({ content })));
    else if ('thought' in said)
      deltas.push(...pieces(said.thought).map((reasoning_content) => ({ reasoning_content })));
    else {
      const index = open.length;
      const beginning = {
        index,
        id: said.call,
        type: 'function',
        function: { name: said.name, arguments: '' },
      };
      const rest = pieces(said.input).map((part) => ({ index, function: { arguments: part } }));
      open.push([beginning, ...rest]);
    }
  }
  for (let at = 0; open.some((call) => at < call.length); at++) {
    for (const call of open) if (call[at]) deltas.push({ tool_calls: [call[at]] });
  }
  return deltas;
}
