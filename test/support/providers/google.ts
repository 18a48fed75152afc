import { generateKeyPairSync } from 'node:crypto';
import type { ServiceAccount } from '../../../services/runner/models/optional-provider-settings.ts';
import { anthropic } from './anthropic.ts';
import {
  chunksOf,
  frame,
  type MessageContent,
  type OutputPart,
  type ProviderProtocol,
  type StreamedResponse,
  textsIn,
} from './protocol.ts';

const MODEL = 'gemini-3.1-pro-preview';
const CLAUDE = 'claude-sonnet-4-5@20250929';
const KEY = 'AIza-0123456789-test';
const TOKEN = 'ya29.token-0123456789';

/** https://ai.google.dev/api/generate-content#v1beta.models.streamGenerateContent */
export const gemini: ProviderProtocol = {
  name: 'gemini',
  model: `gemini/${MODEL}`,
  path: `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
  key: KEY,
  credential: ['x-goog-api-key', KEY],
  settings: (url) => ({ geminiApiKey: KEY, geminiBaseUrl: `${url}/v1beta` }),
  streamStart: ({ parts }) => parts.flatMap(partsOf).map((part) => chunk([part])),
  streamEnd: (response) => {
    const { input = 1, output = 1, cached = 0, reasoning = 0 } = response.tokens ?? {};
    const usageMetadata = {
      promptTokenCount: input,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      cachedContentTokenCount: cached,
      totalTokenCount: input + output,
    };
    return [chunk([{ text: '' }], { finishReason: reason(response) }, { usageMetadata })];
  },
  streamError: (fault) => frame({ error: ERRORS[fault] }),
  errorBody: ({ status: code, kind: status, message }) => ({ error: { code, message, status } }),
  problem({ contents }) {
    for (const { role, parts } of contents as { role: string; parts: MessageContent }[])
      if (role === 'user' && (parts?.length === 0 || textsIn(parts).includes('')))
        return 'Unable to submit request because it must have a text parameter.';
    return undefined;
  },
};

const PUBLISHERS = 'projects/project-1/locations/europe-west4/publishers';

/** Gemini at Vertex AI, with a service account. */
export const vertex: ProviderProtocol = {
  ...gemini,
  name: 'vertex',
  model: `vertex/${MODEL}`,
  path: `/v1beta1/${PUBLISHERS}/google/models/${MODEL}:streamGenerateContent?alt=sse`,
  key: TOKEN,
  credential: ['authorization', `Bearer ${TOKEN}`],
  settings: (url) => ({
    vertexCredentials: { ...account(), tokenUrl: `${url}/token` },
    vertexProject: 'project-1',
    vertexLocation: 'europe-west4',
    vertexBaseUrl: url,
  }),
  tokens: { path: '/token', answer: { access_token: TOKEN, expires_in: 3_599, token_type: 'Bearer' } },
};

/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude */
export const vertexClaude: ProviderProtocol = {
  ...vertex,
  name: 'vertex claude',
  model: `vertex/${CLAUDE}`,
  path: `/v1/${PUBLISHERS}/anthropic/models/${CLAUDE}:streamRawPredict`,
  streamStart: anthropic.streamStart,
  streamEnd: anthropic.streamEnd,
  streamError: anthropic.streamError,
  errorBody: anthropic.errorBody,
  problem: anthropic.problem,
};

const ERRORS = {
  overloaded: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
  limited: { code: 429, message: 'Resource has been exhausted.', status: 'RESOURCE_EXHAUSTED' },
  'too long': {
    code: 400,
    message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    status: 'INVALID_ARGUMENT',
  },
};

function chunk(parts: object[], candidate: object = {}, more: object = {}): string {
  const candidates = [{ content: { role: 'model', parts }, index: 0, ...candidate }];
  return frame({ candidates, modelVersion: MODEL, responseId: 'resp_test', ...more });
}

function reason({ finishReason }: StreamedResponse): string {
  return finishReason === 'length' ? 'MAX_TOKENS' : 'STOP';
}

/** Calls are not streamed in pieces. A thought has its signature at the end. */
function partsOf(part: OutputPart): object[] {
  if ('text' in part) return chunksOf(part.text).map((text) => ({ text }));
  if ('call' in part)
    return [{ functionCall: { id: part.call, name: part.name, args: JSON.parse(part.input || '{}') } }];
  const thoughts = chunksOf(part.thought);
  return thoughts.map((text, index) => ({
    text,
    thought: true,
    ...(index === thoughts.length - 1 && { thoughtSignature: part.seal }),
  }));
}

let generated: Omit<ServiceAccount, 'tokenUrl'> | undefined;

function account(): Omit<ServiceAccount, 'tokenUrl'> {
  if (!generated) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    generated = { clientEmail: 'runner@project-1.iam.gserviceaccount.com', privateKey: pem, keyId: 'key-1' };
  }
  return generated;
}
