import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../lib/log.ts';
import type { OutputPart, ProviderProtocol, ScriptedResponse } from '../../support/providers/protocol.ts';
import { openProvider } from '../../support/providers/server.ts';
import { PROTOCOLS, requestStep } from './model-step-fixture.ts';

const BEGUN: OutputPart[] = [{ text: 'It begins well' }];
const CALL_BEGUN: OutputPart[] = [{ call: 'call_a', name: 'weather', input: '{"city":"Zür' }];
const RETRYABLE = { isRetryable: true };
const PERMANENT = { isRetryable: false, delayMs: 0 };

const errorResponse = (status: number, kind: string, message = 'no', headers = {}): ScriptedResponse => ({
  status,
  kind,
  message,
  headers,
});

async function failureOf(protocol: ProviderProtocol, answer: ScriptedResponse) {
  await using server = await openProvider(protocol);
  server.enqueue(answer);
  const { end, texts } = await requestStep(protocol, server);
  if (end.kind !== 'failed') throw new Error(`the step ended as ${end.kind}`);
  // The queue decides about retries, so a step sends one request.
  expect(server.requests).toHaveLength(1);
  return { ...end.failure, text: texts.join(''), cause: end.cause };
}

describe.each(PROTOCOLS)('a failed request to $model', (protocol) => {
  it.each([
    ['an overload', errorResponse(529, 'overloaded_error'), 'model_overloaded', RETRYABLE],
    [
      'an overload with retry-after',
      errorResponse(503, 'overloaded', '', { 'retry-after': '3' }),
      'model_overloaded',
      { delayMs: 3_000 },
    ],
    ['an internal server error', errorResponse(500, 'api_error'), 'model_overloaded', RETRYABLE],
    [
      'a rate limit',
      errorResponse(429, 'rate_limit_error'),
      'model_rate_limited',
      { ...RETRYABLE, delayMs: 0 },
    ],
    [
      'a rate limit with seconds',
      errorResponse(429, 'rate_limit_error', '', { 'retry-after': '7' }),
      'model_rate_limited',
      { ...RETRYABLE, delayMs: 7_000 },
    ],
    [
      'a rate limit with a date',
      errorResponse(429, 'rate_limit_error', '', { 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' }),
      'model_rate_limited',
      { ...RETRYABLE, delayMs: 20_000 },
    ],
    [
      'a rate limit with milliseconds',
      errorResponse(429, 'rate_limit_error', '', { 'retry-after': '2', 'retry-after-ms': '1250' }),
      'model_rate_limited',
      { ...RETRYABLE, delayMs: 1_250 },
    ],
    ['an exhausted quota', errorResponse(429, 'insufficient_quota'), 'model_quota_exhausted', PERMANENT],
    [
      'a wrong key',
      errorResponse(401, 'authentication_error', `wrong key ${protocol.key}`),
      'model_unauthorized',
      PERMANENT,
    ],
    ['a key without permission', errorResponse(403, 'permission_error'), 'model_unauthorized', PERMANENT],
    [
      'a bad request',
      errorResponse(400, 'invalid_request_error', 'temperature: too hot'),
      'model_bad_request',
      { ...PERMANENT, message: 'temperature: too hot' },
    ],
    [
      'an unknown model',
      errorResponse(404, 'not_found_error', 'model: missing'),
      'model_bad_request',
      { ...PERMANENT, message: 'model: missing' },
    ],
    ['a request that is too large', errorResponse(413, 'request_too_large'), 'model_bad_request', PERMANENT],
    [
      'a redirect',
      errorResponse(307, 'moved', '', { location: 'http://127.0.0.1:1/' }),
      'model_bad_request',
      PERMANENT,
    ],
    ['a connection that is reset', 'reset', 'model_unreachable', RETRYABLE],
    ['a connection lost before any output', { parts: [], fault: 'cut' }, 'model_stream_cut', RETRYABLE],
    ['a connection lost during text', { parts: BEGUN, fault: 'cut' }, 'model_stream_cut', RETRYABLE],
    [
      'a connection lost during a tool call',
      { parts: CALL_BEGUN, fault: 'cut' },
      'model_stream_cut',
      RETRYABLE,
    ],
    ['a stream that ends during text', { parts: BEGUN, fault: 'end' }, 'model_stream_cut', RETRYABLE],
    [
      'a stream that ends during a tool call',
      { parts: CALL_BEGUN, fault: 'end' },
      'model_stream_cut',
      RETRYABLE,
    ],
    ['a stream that ends before any output', { parts: [], fault: 'end' }, 'model_stream_cut', RETRYABLE],
    ['malformed JSON during text', { parts: BEGUN, fault: 'garbled' }, 'model_stream_cut', RETRYABLE],
    ['malformed JSON before any output', { parts: [], fault: 'garbled' }, 'model_stream_cut', RETRYABLE],
    ['an overload during text', { parts: BEGUN, fault: 'overloaded' }, 'model_overloaded', RETRYABLE],
    ['an overload before any output', { parts: [], fault: 'overloaded' }, 'model_overloaded', RETRYABLE],
    ['a rate limit during text', { parts: BEGUN, fault: 'limited' }, 'model_rate_limited', RETRYABLE],
    ['a context that is too long', { parts: [], fault: 'too long' }, 'model_context_exceeded', PERMANENT],
  ] satisfies [string, ScriptedResponse, string, object][])(
    'reports %s with its error code',
    async (_, answer, code, more) => {
      expect(await failureOf(protocol, answer)).toMatchObject({ code, ...more });
    },
  );

  it('keeps the text that was streamed before it', async () => {
    expect(await failureOf(protocol, { parts: BEGUN, fault: 'overloaded' })).toMatchObject({
      text: 'It begins well',
    });
  });

  it('is model_unreachable when the connection is refused', async () => {
    const { end } = await requestStep(protocol, { url: 'http://127.0.0.1:1' });
    expect(end).toMatchObject({ kind: 'failed', failure: { code: 'model_unreachable', ...RETRYABLE } });
  });

  it("removes the key and addresses from the provider's message", async () => {
    const message = `the key ${protocol.key} is not for https://somewhere.test/secret/path`;
    const { message: reported } = await failureOf(
      protocol,
      errorResponse(400, 'invalid_request_error', message),
    );
    expect(reported).toBe('the key … is not for …');
  });

  it.each([
    ['is refused', errorResponse(400, 'invalid_request_error', 'Where am I? sk-leak')],
    ['is interrupted', { parts: BEGUN, fault: 'cut' }],
    ['is malformed', { parts: BEGUN, fault: 'garbled' }],
    ['is malformed before any output', { parts: [], fault: 'garbled' }],
    ['fails', { parts: BEGUN, fault: 'overloaded' }],
    ['is not answered', 'reset'],
  ] satisfies [string, ScriptedResponse][])(
    'writes no key, content or address to the log when it %s',
    async (_, answer) => {
      const { cause } = await failureOf(protocol, answer);
      const lines: string[] = [];
      const destination = new Writable({
        write(chunk, _encoding, done) {
          lines.push(String(chunk));
          done();
        },
      });
      const log = createLog({ level: 'debug', destination });
      log.error({ err: cause, whole: cause, ...cause }, 'the model request failed');
      const logged = lines.join('');
      expect(logged).toContain('the model request failed');
      for (const secret of [
        protocol.key,
        'Where am I',
        'You are brief',
        'It begins',
        'sk-leak',
        '127.0.0.1',
        'http:',
      ]) {
        expect(logged).not.toContain(secret);
      }
    },
  );
});

describe('a provider without an API key', () => {
  it.each(['anthropic', 'openai'])('fails with model_key_missing: %s', async (name) => {
    const protocol = PROTOCOLS.find((one) => one.name === name) as ProviderProtocol;
    const { end } = await requestStep({ ...protocol, settings: () => ({}) }, { url: 'http://127.0.0.1:1' });
    expect(end).toMatchObject({
      kind: 'failed',
      failure: {
        code: 'model_key_missing',
        message: `The API key of ${name} is not configured. The operator of this service must give it to the runner.`,
        ...PERMANENT,
      },
    });
  });

  it('is called without a key when it is an endpoint', async () => {
    const protocol = PROTOCOLS.find((one) => one.name === 'local-1') as ProviderProtocol;
    await using server = await openProvider(protocol);
    server.enqueue({ parts: BEGUN });
    const settings = (url: string) => ({ ...protocol.settings(url), modelEndpointKeys: undefined });
    expect((await requestStep({ ...protocol, settings }, server)).texts).toEqual(['It begins well']);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});
