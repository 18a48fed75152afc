import { describe, expect, it } from 'vitest';
import { deferredAnswer } from '../../../../../services/channels/products/discord/answers.ts';
import { meaningOf } from '../../../../../services/channels/products/discord/close-codes.ts';
import { toProductError } from '../../../../../services/channels/products/discord/errors.ts';
import { isUsedEvent } from '../../../../../services/channels/products/discord/gateway-events.ts';
import {
  readResumeState,
  writeResumeState,
} from '../../../../../services/channels/products/discord/resume-state.ts';
import { discord } from '../../../../../services/deployments/channels/products/discord/product.ts';

describe('toProductError of Discord', () => {
  it.each([
    [{ status: 401, code: 0 }, 'unauthorized', 'token'],
    [{ status: 404, code: 10_003 }, 'refused', 'channel or thread does not exist'],
    [{ status: 404, code: 10_008 }, 'missing', 'message does not exist'],
    [{ status: 403, code: 50_001 }, 'refused', 'View Channel'],
    [{ status: 403, code: 50_013 }, 'refused', 'Attach Files'],
    [{ status: 403, code: 50_007 }, 'refused', 'direct messages'],
    [{ status: 413, code: 0 }, 'refused', 'too large'],
    [{ status: 400, code: 77 }, 'refused', 'status 400, code 77'],
    [{ status: 503 }, 'unavailable', '503'],
    [
      { name: 'RateLimitError[/webhooks/1/token]', timeToReset: 10, retryAfter: 1500 },
      'rate_limited',
      'rate',
    ],
    [new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }), 'unavailable', 'ECONNREFUSED'],
    [new TypeError('fetch failed: other side closed'), 'ambiguous', 'without an answer'],
    [undefined, 'ambiguous', 'without an answer'],
  ])('maps %j to %s', (error, kind, text) => {
    const mapped = toProductError(error, 'Attach Files');
    expect(mapped).toMatchObject({ kind, message: expect.stringContaining(text) });
    expect(mapped.message).not.toContain('webhooks');
  });

  it('takes over the time of a limit', () => {
    expect(toProductError({ timeToReset: 1, retryAfter: 1500 }).retryAfterMs).toBe(1500);
    expect(toProductError({ timeToReset: 1, retryAfter: Number.NaN }).retryAfterMs).toBe(5000);
  });
});

describe('meaningOf', () => {
  it('tells failures that a change must end from lost connections and ended sessions', () => {
    expect(meaningOf(4004)).toMatchObject({ error: { kind: 'unauthorized' } });
    expect(meaningOf(4014)).toMatchObject({
      error: { kind: 'unauthorized', message: expect.stringContaining('Message Content Intent') },
    });
    for (const code of [1006, 4000, 4200]) expect(meaningOf(code)).toEqual({ canResume: true });
    for (const code of [1000, 4007, 4009]) expect(meaningOf(code)).toEqual({ canResume: false });
  });
});

describe('readResumeState', () => {
  const state = { sessionId: 'session', sequence: 7, resumeUrl: 'wss://gateway.discord.gg' };

  it('returns the written state of the same application', () => {
    expect(readResumeState(writeResumeState(state, '1'), '1')).toEqual(state);
    expect(readResumeState(writeResumeState(state, '1'), '2')).toBeUndefined();
  });

  it.each([undefined, '', 'no JSON', 'null', '7', '{"sessionId":"a"}'])('returns none for %j', (text) => {
    expect(readResumeState(text, '1')).toBeUndefined();
  });
});

describe('events of Discord', () => {
  it('leaves out the edits of the bot and events without messages', () => {
    expect(isUsedEvent({ t: 'MESSAGE_UPDATE', d: { author: { id: '1' } } }, '1')).toBe(false);
    expect(isUsedEvent({ t: 'MESSAGE_UPDATE', d: { author: { id: '2' } } }, '1')).toBe(true);
    expect(isUsedEvent({ t: 'MESSAGE_CREATE', d: { author: { id: '1' } } }, '1')).toBe(true);
    expect(isUsedEvent({ t: 'GUILD_CREATE', d: null }, '1')).toBe(false);
  });

  it.each([2, 3])('defers interactions of type %s as the callback does', (type) => {
    const { body } = discord.answer({ t: 'INTERACTION_CREATE', d: { type } }, undefined);
    expect(deferredAnswer(type)).toEqual(JSON.parse(body));
  });
});
