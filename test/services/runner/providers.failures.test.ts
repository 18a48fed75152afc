import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../lib/log.ts';
import { openProvider } from '../../support/providers/server.ts';
import type { Answer, Said, Wire } from '../../support/providers/wire.ts';
import { ask, WIRES } from './ask.ts';

const BEGUN: Said[] = [{ text: 'It begins well' }];
const CALLING: Said[] = [{ call: 'call_a', name: 'weather', input: '{"city":"Zür' }];
const PASSING = { mayPass: true };
const LASTING = { mayPass: false, delayMs: 0 };

const refusal = (status: number, kind: string, message = 'no', headers = {}): Answer => ({
  status,
  kind,
  message,
  headers,
});

async function failureOf(wire: Wire, answer: Answer) {
  await using server = await openProvider(wire);
  server.answers(answer);
  const { end, texts } = await ask(wire, server);
  if (end.kind !== 'failed') throw new Error(`the step is ${end.kind}`);
  // Whether it is tried again is for the queue to say.
  expect(server.requests).toHaveLength(1);
  return { ...end.failure, said: texts.join(''), cause: end.cause };
}

describe.each(WIRES)('a failure of $model', (wire) => {
  it.each([
    ['an overload', refusal(529, 'overloaded_error'), 'model_overloaded', PASSING],
    [
      'an overload with a time',
      refusal(503, 'overloaded', '', { 'retry-after': '3' }),
      'model_overloaded',
      { delayMs: 3_000 },
    ],
    ['a failure of its own', refusal(500, 'api_error'), 'model_overloaded', PASSING],
    ['a rate limit', refusal(429, 'rate_limit_error'), 'model_rate_limited', { ...PASSING, delayMs: 0 }],
    [
      'a rate limit with seconds',
      refusal(429, 'rate_limit_error', '', { 'retry-after': '7' }),
      'model_rate_limited',
      { ...PASSING, delayMs: 7_000 },
    ],
    [
      'a rate limit with a date',
      refusal(429, 'rate_limit_error', '', { 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' }),
      'model_rate_limited',
      { ...PASSING, delayMs: 20_000 },
    ],
    [
      'a rate limit with milliseconds',
      refusal(429, 'rate_limit_error', '', { 'retry-after': '2', 'retry-after-ms': '1250' }),
      'model_rate_limited',
      { ...PASSING, delayMs: 1_250 },
    ],
    ['an account that is used up', refusal(429, 'insufficient_quota'), 'model_quota_exhausted', LASTING],
    [
      'a wrong key',
      refusal(401, 'authentication_error', `wrong key ${wire.key}`),
      'model_unauthorized',
      LASTING,
    ],
    ['a key that may not', refusal(403, 'permission_error'), 'model_unauthorized', LASTING],
    [
      'a bad request',
      refusal(400, 'invalid_request_error', 'temperature: too hot'),
      'model_bad_request',
      { ...LASTING, message: 'temperature: too hot' },
    ],
    [
      'an unknown model',
      refusal(404, 'not_found_error', 'model: nobody'),
      'model_bad_request',
      { ...LASTING, message: 'model: nobody' },
    ],
    ['a request that is too large', refusal(413, 'request_too_large'), 'model_bad_request', LASTING],
    [
      'a redirect',
      refusal(307, 'moved', '', { location: 'http://127.0.0.1:1/' }),
      'model_bad_request',
      LASTING,
    ],
    ['a connection that is closed at once', 'reset', 'model_unreachable', PASSING],
    ['a cut before anything is said', { says: [], trouble: 'cut' }, 'model_stream_cut', PASSING],
    ['a cut in the middle', { says: BEGUN, trouble: 'cut' }, 'model_stream_cut', PASSING],
    ['a cut in the middle of a tool call', { says: CALLING, trouble: 'cut' }, 'model_stream_cut', PASSING],
    ['an end before its end', { says: BEGUN, trouble: 'end' }, 'model_stream_cut', PASSING],
    ['an end in the middle of a tool call', { says: CALLING, trouble: 'end' }, 'model_stream_cut', PASSING],
    ['an end before anything is said', { says: [], trouble: 'end' }, 'model_stream_cut', PASSING],
    ['malformed JSON', { says: BEGUN, trouble: 'garbled' }, 'model_stream_cut', PASSING],
    ['malformed JSON from the beginning', { says: [], trouble: 'garbled' }, 'model_stream_cut', PASSING],
    ['an overload in the middle', { says: BEGUN, trouble: 'overloaded' }, 'model_overloaded', PASSING],
    ['an overload from the beginning', { says: [], trouble: 'overloaded' }, 'model_overloaded', PASSING],
    ['a rate limit in the middle', { says: BEGUN, trouble: 'limited' }, 'model_rate_limited', PASSING],
    ['a context that turns out too long', { says: [], trouble: 'too long' }, 'model_bad_request', LASTING],
  ] satisfies [string, Answer, string, object][])('%s has its name', async (_, answer, code, more) => {
    expect(await failureOf(wire, answer)).toMatchObject({ code, ...more });
  });

  it('has told what came before it', async () => {
    expect(await failureOf(wire, { says: BEGUN, trouble: 'overloaded' })).toMatchObject({
      said: 'It begins well',
    });
  });

  it('is a missing connection when nobody is there', async () => {
    const { end } = await ask(wire, { url: 'http://127.0.0.1:1' });
    expect(end).toMatchObject({ kind: 'failed', failure: { code: 'model_unreachable', ...PASSING } });
  });

  it('never tells the key or an address, whatever the provider says', async () => {
    const message = `the key ${wire.key} is not for https://somewhere.test/secret/path`;
    const { message: told } = await failureOf(wire, refusal(400, 'invalid_request_error', message));
    expect(told).toBe('the key … is not for …');
  });

  it.each([
    ['is refused', refusal(400, 'invalid_request_error', 'Where am I? sk-leak')],
    ['is cut', { says: BEGUN, trouble: 'cut' }],
    ['is garbled', { says: BEGUN, trouble: 'garbled' }],
    ['is garbled from the beginning', { says: [], trouble: 'garbled' }],
    ['fails', { says: BEGUN, trouble: 'overloaded' }],
    ['is not answered', 'reset'],
  ] satisfies [string, Answer][])(
    'leaves nothing in a log of what was said, when it %s',
    async (_, answer) => {
      const { cause } = await failureOf(wire, answer);
      const lines: string[] = [];
      const destination = new Writable({
        write(chunk, _encoding, done) {
          lines.push(String(chunk));
          done();
        },
      });
      const log = createLog({ level: 'debug', pretty: false, destination });
      log.error({ err: cause, whole: cause, ...cause }, 'a model failed');
      const said = lines.join('');
      expect(said).toContain('a model failed');
      for (const secret of [
        wire.key,
        'Where am I',
        'You are brief',
        'It begins',
        'sk-leak',
        '127.0.0.1',
        'http:',
      ]) {
        expect(said).not.toContain(secret);
      }
    },
  );
});

describe('a provider without its key', () => {
  it.each(['anthropic', 'openai'])('cannot be asked: %s', async (name) => {
    const wire = WIRES.find((one) => one.name === name) as Wire;
    const { end } = await ask({ ...wire, settings: () => ({}) }, { url: 'http://127.0.0.1:1' });
    expect(end).toMatchObject({
      kind: 'failed',
      failure: {
        code: 'model_key_missing',
        message: `The models of ${name} need a key, which whoever operates this service has to give to the runner.`,
        ...LASTING,
      },
    });
  });

  it('is asked without one when it is an endpoint', async () => {
    const wire = WIRES.find((one) => one.name === 'local-1') as Wire;
    await using server = await openProvider(wire);
    server.answers({ says: BEGUN });
    const settings = (url: string) => ({ ...wire.settings(url), modelEndpointKeys: undefined });
    expect((await ask({ ...wire, settings }, server)).texts).toEqual(['It begins well']);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});
