import { eventStreamFrame } from './event-stream.ts';
import {
  chunksOf,
  type OutputPart,
  type ProviderProtocol,
  type StreamedResponse,
  textsIn,
} from './protocol.ts';

const MODEL = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const KEY = 'bedrock-api-key-0123456789';

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html */
export const bedrock: ProviderProtocol = {
  name: 'bedrock',
  model: `bedrock/${MODEL}`,
  path: `/model/${encodeURIComponent(MODEL)}/converse-stream`,
  contentType: 'application/vnd.amazon.eventstream',
  key: KEY,
  credential: ['authorization', `Bearer ${KEY}`],
  settings: (url) => ({ bedrockApiKey: KEY, bedrockRegion: 'eu-central-1', bedrockBaseUrl: url }),
  streamStart: ({ parts }) => [event('messageStart', { role: 'assistant' }), ...parts.flatMap(block)],
  streamEnd: (response) => {
    const { input = 1, output = 1, cached = 0, written = 0 } = response.tokens ?? {};
    const usage = {
      inputTokens: input - cached - written,
      outputTokens: output,
      totalTokens: input + output,
      cacheReadInputTokens: cached,
      cacheWriteInputTokens: written,
    };
    return [
      event('messageStop', { stopReason: reason(response) }),
      event('metadata', { usage, metrics: { latencyMs: 1 } }),
    ];
  },
  streamError: (fault) => {
    const { type, message } = ERRORS[fault];
    const headers = { ':message-type': 'exception', ':exception-type': type };
    return eventStreamFrame(headers, { message });
  },
  errorBody: ({ message }) => ({ message }),
  problem({ messages }) {
    const texts = (messages as { content: { text?: string }[] }[]).flatMap(({ content }) => textsIn(content));
    return texts.some((text) => text.trim() === '')
      ? 'The text field in the ContentBlock is blank.'
      : undefined;
  },
};

const ERRORS = {
  overloaded: { type: 'serviceUnavailableException', message: 'Bedrock is unable to process your request.' },
  limited: { type: 'throttlingException', message: 'Too many tokens, please wait before trying again.' },
  'too long': { type: 'validationException', message: 'Input is too long for requested model.' },
};

function event(type: string, payload: object): Buffer {
  const headers = { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' };
  return eventStreamFrame(headers, payload);
}

function reason({ parts, finishReason }: StreamedResponse): string {
  if (finishReason === 'length') return 'max_tokens';
  return parts.some((part) => 'call' in part) ? 'tool_use' : 'end_turn';
}

function block(part: OutputPart, contentBlockIndex: number): Buffer[] {
  const starts =
    'call' in part
      ? [{ contentBlockIndex, start: { toolUse: { toolUseId: part.call, name: part.name } } }]
      : [];
  return [
    ...starts.map((start) => event('contentBlockStart', start)),
    ...deltasOf(part).map((delta) => event('contentBlockDelta', { contentBlockIndex, delta })),
    event('contentBlockStop', { contentBlockIndex }),
  ];
}

function deltasOf(part: OutputPart): object[] {
  if ('text' in part) return chunksOf(part.text).map((text) => ({ text }));
  if ('call' in part) return chunksOf(part.input).map((input) => ({ toolUse: { input } }));
  const thoughts = chunksOf(part.thought).map((text) => ({ reasoningContent: { text } }));
  return [...thoughts, { reasoningContent: { signature: part.seal } }];
}
