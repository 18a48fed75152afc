import {
  chunksOf,
  frame,
  type MessageContent,
  type OutputPart,
  type ProviderProtocol,
  textsIn,
} from './protocol.ts';

const MODEL = 'gpt-5-mini';
const KEY = 'sk-proj-0123456789-test';

/** https://platform.openai.com/docs/api-reference/responses-streaming */
export const openai: ProviderProtocol = {
  name: 'openai',
  model: `openai/${MODEL}`,
  path: '/v1/responses',
  key: KEY,
  credential: ['authorization', `Bearer ${KEY}`],
  settings: (url) => ({ openaiApiKey: KEY, openaiBaseUrl: `${url}/v1` }),
  streamStart: ({ parts }) => [
    event('response.created', { response: { ...RESPONSE, status: 'in_progress' } }),
    event('response.in_progress', { response: { ...RESPONSE, status: 'in_progress' } }),
    ...parts.flatMap(item),
  ],
  streamEnd: (response) => {
    const { input = 1, output = 1, cached = 0, reasoning = 0 } = response.tokens ?? {};
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    };
    return response.finishReason === 'length'
      ? [
          event('response.incomplete', {
            response: { ...RESPONSE, incomplete_details: { reason: 'max_output_tokens' }, usage },
          }),
        ]
      : [event('response.completed', { response: { ...RESPONSE, status: 'completed', usage } })];
  },
  streamError: (fault) =>
    event('response.failed', { response: { ...RESPONSE, status: 'failed', error: ERRORS[fault] } }),
  errorBody: ({ kind, message }) => ({ error: { message, type: kind, param: null, code: kind } }),
  problem({ input }) {
    for (const [index, { role, content }] of (
      input as { role?: string; content?: MessageContent }[]
    ).entries()) {
      if (role !== 'user') continue;
      if (content?.length === 0) return `Invalid 'input[${index}].content': empty array.`;
      if (textsIn(content).includes('')) return `Invalid 'input[${index}].content[0].text': empty string.`;
    }
    return undefined;
  },
};

const RESPONSE = { id: 'resp_test', object: 'response', created_at: 1_767_225_600, model: MODEL };

const ERRORS = {
  overloaded: { code: 'server_is_overloaded', message: 'The server is currently overloaded.' },
  limited: { code: 'rate_limit_exceeded', message: 'Rate limit reached for gpt-5-mini.' },
  'too long': {
    code: 'context_length_exceeded',
    message: 'Your input exceeds the context window of this model.',
  },
};

function event(type: string, members: object): string {
  return frame({ type, sequence_number: 0, ...members }, type);
}

function item(output: OutputPart, output_index: number): string[] {
  const { item_id, added, deltas, done } = partsOf(output, output_index);
  return [
    event('response.output_item.added', { output_index, item: { id: item_id, ...added } }),
    ...deltas.map(([type, members]) => event(type, { item_id, output_index, ...members })),
    event('response.output_item.done', { output_index, item: { id: item_id, ...added, ...done } }),
  ];
}

interface Parts {
  item_id: string;
  added: object;
  deltas: [type: string, members: object][];
  done: object;
}

function partsOf(output: OutputPart, index: number): Parts {
  if ('text' in output) {
    const part = { type: 'output_text', text: output.text, annotations: [] };
    return {
      item_id: `msg_${index}`,
      added: { type: 'message', role: 'assistant', status: 'in_progress', content: [] },
      deltas: [
        ['response.content_part.added', { content_index: 0, part: { ...part, text: '' } }],
        ...deltasOf('response.output_text.delta', output.text, { content_index: 0, logprobs: [] }),
        ['response.output_text.done', { content_index: 0, text: output.text, logprobs: [] }],
        ['response.content_part.done', { content_index: 0, part }],
      ],
      done: { status: 'completed', content: [part] },
    };
  }
  if ('call' in output) {
    const { call: call_id, name, input } = output;
    return {
      item_id: `fc_${index}`,
      added: { type: 'function_call', call_id, name, arguments: '', status: 'in_progress' },
      deltas: [
        ...deltasOf('response.function_call_arguments.delta', input, {}),
        ['response.function_call_arguments.done', { arguments: input }],
      ],
      done: { status: 'completed', arguments: input },
    };
  }
  const part = { type: 'summary_text', text: output.thought };
  return {
    item_id: `rs_${index}`,
    added: { type: 'reasoning', summary: [] },
    deltas: [
      ['response.reasoning_summary_part.added', { summary_index: 0, part: { ...part, text: '' } }],
      ...deltasOf('response.reasoning_summary_text.delta', output.thought, { summary_index: 0 }),
      ['response.reasoning_summary_text.done', { summary_index: 0, text: output.thought }],
      ['response.reasoning_summary_part.done', { summary_index: 0, part }],
    ],
    done: { summary: [part], encrypted_content: output.seal },
  };
}

function deltasOf(type: string, text: string, members: object): Parts['deltas'] {
  return chunksOf(text).map((delta) => [type, { ...members, delta }]);
}
