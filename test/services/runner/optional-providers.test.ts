import type { ModelMessage, ToolResultPart } from 'ai';
import { describe, expect, it } from 'vitest';
import { cacheOptions } from '../../../services/runner/loop/cache-options.ts';
import { createModels } from '../../../services/runner/models/registry.ts';
import { createTokenSource } from '../../../services/runner/models/vertex-token.ts';
import { createFakeClock } from '../../support/clock.ts';
import { azure } from '../../support/providers/azure.ts';
import { bedrock } from '../../support/providers/bedrock.ts';
import { gemini, vertex, vertexClaude } from '../../support/providers/google.ts';
import type { ErrorResponse, ProviderProtocol, ScriptedResponse } from '../../support/providers/protocol.ts';
import { openProvider } from '../../support/providers/server.ts';
import { contentOf, finished, OPTIONAL_PROTOCOLS, requestStep, WEATHER } from './model-step-fixture.ts';

const TEXT = 'In a town with a river – 東京 😀, I think.';
const CALLS = [
  { call: 'call_a', name: 'weather', input: '{"city":"Zürich"}' },
  { call: 'call_b', name: 'weather', input: '{"city":"東京"}' },
];
const PNG = Buffer.from('iVBORw0KGgo=', 'base64');
const CLAUDE = [bedrock, vertexClaude];

function resultOf({ call, name }: { call: string; name: string }): ToolResultPart {
  const output = { type: 'json' as const, value: { sky: `grey over ${call}` } };
  return { type: 'tool-result', toolCallId: call, toolName: name, output };
}

describe.each(OPTIONAL_PROTOCOLS)('a model step of $model', (protocol) => {
  it('streams the text and returns the token usage', async () => {
    await using server = await openProvider(protocol);
    const written = CLAUDE.includes(protocol) ? 30 : 0;
    const hasReasoning = protocol !== bedrock;
    const tokens = { input: 100, output: 20, cached: 50, written, reasoning: hasReasoning ? 8 : 0 };
    server.enqueue({ parts: [{ text: TEXT }], tokens });
    const step = await requestStep(protocol, server, { maxOutputTokens: 321 });
    expect(step.texts).toEqual([TEXT]);
    expect(finished(step)).toMatchObject({
      finishReason: 'stop',
      content: [{ type: 'text', text: TEXT }],
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 50,
      ...(CLAUDE.includes(protocol) && { cacheWriteTokens: 30 }),
      ...(hasReasoning && { reasoningTokens: 8 }),
    });
    const [{ path, headers, body }] = server.requests as [(typeof server.requests)[0]];
    const [name, value] = protocol.credential;
    expect([path, headers[name]]).toEqual([protocol.path, value]);
    const text = JSON.stringify(body);
    for (const part of ['You are brief.', 'Where am I?', '321']) expect(text).toContain(part);
  });

  it('returns parallel tool calls and sends back their results and thoughts', async () => {
    await using server = await openProvider(protocol);
    const thought = { thought: 'The river is the Limmat.', seal: 'c2VhbDE=' };
    server.enqueue({ parts: [thought, { text: 'I look.' }, ...CALLS] }, { parts: [{ text: 'Rain.' }] });
    const step = await requestStep(protocol, server, { tools: [WEATHER] });
    expect(step.thoughts.join('')).toBe(thought.thought);
    expect(finished(step).finishReason).toBe('tool-calls');
    const content = contentOf(step);
    const calls = content.filter(({ type }) => type === 'tool-call');
    expect(calls).toMatchObject([
      { toolCallId: 'call_a', toolName: 'weather', input: { city: 'Zürich' } },
      { toolCallId: 'call_b', toolName: 'weather', input: { city: '東京' } },
    ]);
    const next = await requestStep(protocol, server, {
      tools: [WEATHER],
      messages: [
        { role: 'user', content: 'How is the weather?' },
        // The journal stores the content as JSON.
        { role: 'assistant', content: JSON.parse(JSON.stringify(content)) },
        { role: 'tool', content: CALLS.map(resultOf) },
      ],
    });
    expect(next.texts).toEqual(['Rain.']);
    const body = JSON.stringify(server.requests[1]?.body);
    for (const part of [
      'Zürich',
      '東京',
      'grey over call_a',
      'grey over call_b',
      thought.thought,
      thought.seal,
    ])
      expect(body).toContain(part);
  });

  it('sends images of messages and tool results', async () => {
    await using server = await openProvider(protocol);
    server.enqueue({ parts: [{ text: 'A dot.' }] });
    const image = {
      type: 'file' as const,
      data: { type: 'data' as const, data: PNG },
      mediaType: 'image/png',
    };
    const output: ToolResultPart['output'] = {
      type: 'content',
      value: [{ type: 'text', text: 'The picture:' }, image],
    };
    const messages: ModelMessage[] = [
      { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] },
      { role: 'assistant', content: [{ ...CALL_PART }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_a', toolName: 'weather', output }] },
    ];
    expect((await requestStep(protocol, server, { tools: [WEATHER], messages })).texts).toEqual(['A dot.']);
    const body = JSON.stringify(server.requests[0]?.body);
    expect(body.split('iVBORw0KGgo=')).toHaveLength(3);
  });

  it('sends a text in place of an empty message', async () => {
    await using server = await openProvider(protocol);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: '' }] }];
    expect((await requestStep(protocol, server, { messages })).texts).toEqual(['Hm.']);
  });

  const refusal = (status: number, kind: string, message = 'no'): ErrorResponse => ({
    status,
    kind,
    message,
  });
  it.each<[what: string, answer: ScriptedResponse, failure: object]>([
    ['an overload', refusal(503, 'UNAVAILABLE'), { code: 'model_overloaded', isRetryable: true }],
    ['an internal error', refusal(500, 'INTERNAL'), { code: 'model_overloaded', isRetryable: true }],
    ['a rate limit', refusal(429, 'THROTTLED'), { code: 'model_rate_limited', isRetryable: true }],
    [
      'a delay',
      { ...refusal(429, 'THROTTLED'), headers: { 'retry-after': '7' } },
      { code: 'model_rate_limited', delayMs: 7_000 },
    ],
    ['a wrong key', refusal(401, 'UNAUTHENTICATED'), { code: 'model_unauthorized', isRetryable: false }],
    ['a missing permission', refusal(403, 'DENIED'), { code: 'model_unauthorized', refusedStatus: 403 }],
    [
      'a bad request, without the key',
      refusal(400, 'INVALID_ARGUMENT', `too hot: ${protocol.key}`),
      { code: 'model_bad_request', message: 'too hot: …', isRetryable: false },
    ],
    ['a lost connection', 'reset', { code: 'model_unreachable', isRetryable: true }],
    ['a stream that is cut', { parts: [{ text: 'It' }], fault: 'cut' }, { code: 'model_stream_cut' }],
    ['a stream that ends early', { parts: [{ text: 'It' }], fault: 'end' }, { code: 'model_stream_cut' }],
    [
      'an overload in the stream',
      { parts: [{ text: 'It' }], fault: 'overloaded' },
      { code: 'model_overloaded' },
    ],
    ['a rate limit in the stream', { parts: [], fault: 'limited' }, { code: 'model_rate_limited' }],
    ['a length in the stream', { parts: [], fault: 'too long' }, { code: 'model_context_exceeded' }],
    ['a redirect', { ...refusal(307, 'moved'), headers: { location: '/' } }, { code: 'model_bad_request' }],
  ])('reports %s with its error code', async (_, answer, failure) => {
    await using server = await openProvider(protocol);
    server.enqueue(answer);
    const { end } = await requestStep(protocol, server);
    expect(end).toMatchObject({ kind: 'failed', failure });
    expect(server.requests).toHaveLength(1);
  });

  it('fails with model_key_missing without credentials of the operator', async () => {
    const { end } = await requestStep({ ...protocol, settings: () => ({}) }, { url: 'http://127.0.0.1:1' });
    expect(end).toMatchObject({ kind: 'failed', failure: { code: 'model_key_missing', isRetryable: false } });
  });
});

const CALL_PART = {
  type: 'tool-call' as const,
  toolCallId: 'call_a',
  toolName: 'weather',
  input: { city: 'Zürich' },
};

describe('a refusal because of the length', () => {
  it.each<[ProviderProtocol, message: string, length: object]>([
    [
      gemini,
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      { tokens: 1_200_000, limit: 1_048_576 },
    ],
    [
      vertex,
      'Unable to submit request because the input token count is 1250001 but model only supports up to 1048576. Reduce the input token count and try again.',
      { tokens: 1_250_001, limit: 1_048_576 },
    ],
    [vertexClaude, 'prompt is too long: 250000 tokens > 200000 maximum', { tokens: 250_000, limit: 200_000 }],
    [
      bedrock,
      'The model returned the following errors: prompt is too long: 213462 tokens > 200000 maximum',
      { tokens: 213_462, limit: 200_000 },
    ],
    [bedrock, 'Input is too long for requested model.', {}],
    [
      bedrock,
      'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.',
      {},
    ],
    [
      azure,
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      { tokens: 130_000, limit: 128_000 },
    ],
  ])('of $name is recognised: %s', async (protocol, message, length) => {
    await using server = await openProvider(protocol);
    server.enqueue({ status: 400, kind: 'INVALID_ARGUMENT', message });
    const { end } = await requestStep(protocol, server);
    expect(end).toMatchObject({ kind: 'failed', failure: { code: 'model_context_exceeded', length } });
  });
});

describe('an optional provider', () => {
  it('fails with model_package_missing when its package is not installed', async () => {
    const missing = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }));
    const packages = {
      bedrock: missing,
      azure: missing,
      gemini: missing,
      vertex: missing,
      vertexClaude: missing,
    };
    for (const [protocol, name] of [
      [bedrock, '@ai-sdk/amazon-bedrock'],
      [vertex, '@ai-sdk/google-vertex'],
      [azure, '@ai-sdk/azure'],
      [gemini, '@ai-sdk/google'],
    ] as const) {
      const { end } = await requestStep(protocol, { url: 'http://127.0.0.1:1' }, { packages });
      expect(end).toMatchObject({
        kind: 'failed',
        failure: { code: 'model_package_missing', isRetryable: false },
      });
      expect(JSON.stringify(end)).toContain(`--omit=dev ${name}@`);
    }
  });

  it.each([
    [azure, { azureApiKey: 'k' }, 'SERVICE_AZURE_RESOURCE_NAME'],
    [bedrock, { bedrockApiKey: 'k' }, 'SERVICE_BEDROCK_REGION'],
    [vertexClaude, { vertexApiKey: 'k' }, 'SERVICE_VERTEX_CREDENTIALS'],
  ] as const)(
    'fails with model_provider_incomplete when it lacks a setting: $0.name',
    async (protocol, settings, name) => {
      const { end } = await requestStep({ ...protocol, settings: () => settings }, { url: '' });
      expect(end).toMatchObject({ kind: 'failed', failure: { code: 'model_provider_incomplete' } });
      expect(JSON.stringify(end)).toContain(name);
    },
  );

  it.each([
    [bedrock, 'aws.bedrock', 'bedrock_breakpoints'],
    [vertex, 'gcp.vertex_ai', undefined],
    [vertexClaude, 'gcp.vertex_ai', 'breakpoints'],
    [azure, 'azure.ai.openai', undefined],
    [gemini, 'gcp.gemini', undefined],
  ])(
    'has the name of the conventions in telemetry, and marks for the cache: $0.name',
    (protocol, name, marks) => {
      const url = 'http://127.0.0.1:8123';
      const models = createModels(createFakeClock(), protocol.settings(url));
      const model = models(protocol.model);
      if (!model) throw new Error('unknown model');
      expect(model).toMatchObject({ telemetryName: name, server: { address: '127.0.0.1', port: 8_123 } });
      expect(cacheOptions(model, 'ses_1', {})).toEqual({
        breakpoints: marks,
        options: protocol === azure ? { promptCacheKey: 'ses_1' } : {},
      });
    },
  );

  it('gets no marks for its cache if its model has none', () => {
    const models = createModels(createFakeClock(), bedrock.settings('http://127.0.0.1:1'));
    for (const id of ['amazon.nova-pro-v1:0', 'anthropic.claude-3-haiku-20240307-v1:0']) {
      const model = models(`bedrock/${id}`);
      expect(model && cacheOptions(model, 'ses_1', {}).breakpoints).toBeUndefined();
      expect(model?.entry).toBeDefined();
    }
  });

  it('reads no credentials from the environment of the process', async () => {
    const names = ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_SESSION_TOKEN', 'GOOGLE_VERTEX_API_KEY', 'AZURE_API_KEY'];
    for (const name of names) process.env[name] = 'foreign';
    try {
      for (const protocol of [signed, vertex, azure]) {
        await using server = await openProvider(protocol);
        server.enqueue({ parts: [{ text: 'Hm.' }] });
        expect((await requestStep(protocol, server)).texts).toEqual(['Hm.']);
        expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('foreign');
      }
    } finally {
      for (const name of names) delete process.env[name];
    }
  });
});

/** Bedrock with a temporary access key. */
const signed: ProviderProtocol = {
  ...bedrock,
  settings: (url) => ({
    bedrockAccessKeyId: 'AKIDTEST',
    bedrockSecretAccessKey: 'secret-0123456789',
    bedrockSessionToken: 'session-0123456789',
    bedrockRegion: 'eu-central-1',
    bedrockBaseUrl: url,
  }),
};

describe('Bedrock with an access key', () => {
  it('signs requests and removes the secrets from errors', async () => {
    await using server = await openProvider(signed);
    const message = 'The Canonical String was x-amz-security-token:session-0123456789 secret-0123456789';
    server.enqueue({ parts: [{ text: 'Hm.' }] }, { status: 400, kind: 'x', message });
    expect((await requestStep(signed, server)).texts).toEqual(['Hm.']);
    const headers = server.requests[0]?.headers;
    expect(headers?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-central-1\/bedrock\/aws4_request/,
    );
    expect(headers?.['x-amz-security-token']).toBe('session-0123456789');
    const { end } = await requestStep(signed, server);
    expect(end).toMatchObject({ failure: { message: 'The Canonical String was x-amz-security-token:… …' } });
  });
});

describe('Bedrock', () => {
  it('marks the system prompt and the ends of the last requests for its cache', async () => {
    await using server = await openProvider(bedrock);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ];
    await requestStep(bedrock, server, {
      messages,
      cacheBreakpoints: 'bedrock_breakpoints',
      tools: [WEATHER],
    });
    const mark = { cachePoint: { type: 'default' } };
    expect(server.requests[0]?.body).toMatchObject({
      system: [{ text: 'You are brief.' }, mark],
      messages: [
        { content: [{ text: 'one' }, mark] },
        { content: [{ text: 'two' }] },
        { content: [{ text: 'three' }, mark] },
      ],
    });
  });
});

describe('Vertex AI', () => {
  it('signs the request for an access token', async () => {
    await using server = await openProvider(vertex);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    await requestStep(vertex, server);
    expect(server.tokenRequests).toHaveLength(1);
    const assertion = new URLSearchParams(server.tokenRequests[0]).get('assertion') ?? '';
    const [header, claims] = assertion
      .split('.', 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    expect(claims).toMatchObject({
      iss: 'runner@project-1.iam.gserviceaccount.com',
      aud: `${server.url}/token`,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(claims.exp - claims.iat).toBe(3_600);
  });

  it('shares an access token between requests until five minutes before its end', async () => {
    await using server = await openProvider(vertex);
    const clock = createFakeClock();
    const account = vertex.settings(server.url).vertexCredentials;
    if (!account) throw new Error('no account');
    const token = createTokenSource(account, clock);
    const tokens = await Promise.all([token(), token(), token()]);
    expect(new Set(tokens)).toEqual(new Set([vertex.key]));
    clock.advance(3_298_000);
    await token();
    expect(server.tokenRequests).toHaveLength(1);
    clock.advance(2_000);
    await token();
    expect(server.tokenRequests).toHaveLength(2);
  });

  it('sends an API key of express mode without project and location', async () => {
    const path = `/v1/publishers/google/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse`;
    const express: ProviderProtocol = {
      ...vertex,
      path,
      settings: (url) => ({ vertexApiKey: 'express-key', vertexBaseUrl: url }),
    };
    await using server = await openProvider(express);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    expect((await requestStep(express, server)).texts).toEqual(['Hm.']);
    expect(server.requests[0]?.headers['x-goog-api-key']).toBe('express-key');
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    [400, 'model_unauthorized'],
    [503, 'model_overloaded'],
  ])('reports the status %s of the token server as %s', async (status, code) => {
    const tokens = { path: '/token', status, answer: { error: 'invalid_grant' } };
    const refused: ProviderProtocol = { ...vertex, tokens };
    await using server = await openProvider(refused);
    const { end } = await requestStep(refused, server);
    expect(end).toMatchObject({ hasBegun: false, failure: { code } });
    expect(server.requests).toEqual([]);
  });
});

describe('Gemini', () => {
  it('reports a wrong key, which it answers with 400', async () => {
    await using server = await openProvider(gemini);
    const message = 'API key not valid. Please pass a valid API key.';
    server.enqueue({ status: 400, kind: 'INVALID_ARGUMENT', message });
    const { end } = await requestStep(gemini, server);
    expect(end).toMatchObject({ failure: { code: 'model_unauthorized', refusedStatus: 401 } });
  });
});
