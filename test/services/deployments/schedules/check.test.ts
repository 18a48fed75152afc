import { describe, expect, it } from 'vitest';
import {
  applyChange,
  checkMetadata,
  checkName,
  checkPreview,
  checkPrompt,
  checkSettings,
} from '../../../../services/deployments/domain/schedules/check.ts';

const NOW = new Date('2026-05-01T12:00:00Z');
const LIMITS = { minIntervalSeconds: 60 };
const ABSENT = { at: undefined, timezone: '', startAt: undefined, endAt: undefined, dst: undefined };
const DAILY = { ...ABSENT, cron: '@daily' };
const REQUEST = {
  prompt: 'Report of {{date}}',
  timing: DAILY,
  jitterSeconds: 0,
  overlap: 'skip',
  catchUpSeconds: 3_600,
  sessionMode: 'new',
  sessionId: '',
  pauseAfterFailures: 5,
  countFailedTurns: false,
};
type Request = Parameters<typeof checkSettings>[0];

const check = (more: Partial<Request>) => checkSettings({ ...REQUEST, ...more }, NOW, LIMITS);
const checkTiming = (timing: Partial<NonNullable<Request['timing']>>, more: Partial<Request> = {}) =>
  check({ timing: { ...ABSENT, ...timing }, ...more });

const refusal = (code: string, pointer: string, message = '') =>
  expect.objectContaining({
    code,
    message: expect.stringContaining(message),
    details: expect.arrayContaining([expect.objectContaining({ pointer })]),
  });
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

describe('new schedules', () => {
  it('are stored with expanded nicknames and defaults', () => {
    const { prompt, jitterSeconds, overlap, catchUpSeconds, pauseAfterFailures, countFailedTurns } = REQUEST;
    expect(check({})).toEqual({
      prompt,
      jitterSeconds,
      overlap,
      catchUpSeconds,
      sessionMode: 'new',
      sessionId: null,
      pauseAfterFailures,
      countFailedTurns,
      timing: {
        kind: 'cron',
        cron: '0 0 * * *',
        everySeconds: null,
        at: null,
        timezone: 'UTC',
        startAt: null,
        endAt: null,
        dst: { missing: 'shift', repeated: 'first' },
      },
    });
  });

  it('accept a single time that passed within the catch-up window', () => {
    expect(checkTiming({ at: ago(3_600) }).timing).toMatchObject({ kind: 'at', at: ago(3_600) });
  });

  it.each<[text: string, timing: Partial<NonNullable<Request['timing']>>, pointer: string, message: string]>([
    ['no kind', {}, '/cron', 'every_seconds or at'],
    ['two kinds', { cron: '@daily', everySeconds: 60 }, '/every_seconds', 'together with cron'],
    ['an empty expression and a time', { cron: '', at: NOW }, '/at', 'together with cron'],
    ['four fields', { cron: '* * * *' }, '/cron', 'five fields'],
    ['30 February', { cron: '0 0 30 2 *' }, '/cron', 'no time in the next ten years'],
    ['an unknown zone', { cron: '@daily', timezone: 'Mars/Phobos' }, '/timezone', 'IANA'],
    ['an interval that is too short', { everySeconds: 59 }, '/every_seconds', '60'],
    ['an interval of no number', { everySeconds: Number.NaN }, '/every_seconds', 'whole number'],
    ['an interval of eleven years', { everySeconds: 11 * 366 * 86_400 }, '/every_seconds', '315360000'],
    ['a time before the catch-up window', { at: ago(3_601) }, '/at', 'in the past'],
    ['a time after the end', { at: NOW, endAt: ago(1) }, '/at', 'end_at'],
    ['an end before the start', { cron: '@daily', startAt: NOW, endAt: ago(1) }, '/end_at', 'start_at'],
    [
      'an end before the first time',
      { cron: '@daily', endAt: new Date('2026-05-01T13:00:00Z') },
      '/end_at',
      'first',
    ],
    [
      'an unknown missing',
      { cron: '@daily', dst: { missing: 'no', repeated: '' } },
      '/dst/missing',
      'shift, skip',
    ],
    [
      'an unknown repeated',
      { cron: '@daily', dst: { missing: '', repeated: 'no' } },
      '/dst/repeated',
      'first',
    ],
  ])('are refused with INVALID_SCHEDULE for %s', (_, timing, pointer, message) => {
    expect(() => checkTiming(timing)).toThrow(refusal('INVALID_SCHEDULE', pointer, message));
  });

  it('are refused without a timing', () => {
    expect(() => check({ timing: undefined })).toThrow(refusal('INVALID_SCHEDULE', '/cron'));
  });

  it.each<[Partial<Request>, pointer: string]>([
    [{ jitterSeconds: 3_601 }, '/jitter_seconds'],
    [{ jitterSeconds: -1 }, '/jitter_seconds'],
    [{ overlap: 'queue' }, '/overlap'],
    [{ catchUpSeconds: 2_592_001 }, '/catch_up_seconds'],
    [{ sessionMode: 'old' }, '/session'],
    [{ sessionId: 'ses_1' }, '/session_id'],
    [{ pauseAfterFailures: -1 }, '/pause_after_failures'],
    [{ prompt: 'Hello {{you}}' }, '/prompt'],
  ])('are refused with INVALID_SCHEDULE for %j', (more, pointer) => {
    expect(() => check(more)).toThrow(refusal('INVALID_SCHEDULE', pointer));
  });

  it('bound the jitter by half of the shortest distance between two times', () => {
    const minutes = { cron: '0,10 * * * *' };
    expect(checkTiming(minutes, { jitterSeconds: 299 }).jitterSeconds).toBe(299);
    expect(() => checkTiming(minutes, { jitterSeconds: 300 })).toThrow(
      refusal('INVALID_SCHEDULE', '/jitter_seconds', '600 seconds'),
    );
    expect(checkTiming({ at: NOW }, { jitterSeconds: 3_600 }).jitterSeconds).toBe(3_600);
  });

  it('bound the distance of cron times by the shortest interval', () => {
    const slow = { minIntervalSeconds: 300 };
    const request = { ...REQUEST, timing: { ...ABSENT, cron: '*/4 * * * *' } };
    expect(() => checkSettings(request, NOW, slow)).toThrow(
      refusal('INVALID_SCHEDULE', '/cron', '240 seconds apart'),
    );
  });

  it.each([
    ['', 'INVALID_REQUEST'],
    [' \n', 'INVALID_REQUEST'],
    ['é'.repeat(32_769), 'INVALID_REQUEST'],
    ['a\0b', 'INVALID_TEXT'],
    ['\ud800', 'INVALID_TEXT'],
    ['{{x}}', 'INVALID_SCHEDULE'],
  ])('refuse the prompt %j with %s', (prompt, code) => {
    expect(() => checkPrompt(prompt)).toThrow(refusal(code, '/prompt'));
  });

  it('accept a prompt of 64 KiB', () => {
    expect(check({ prompt: 'é'.repeat(32_768) }).prompt).toHaveLength(32_768);
  });

  it('trim names, and refuse empty, long and malformed ones', () => {
    expect(checkName('  Morning report ')).toBe('Morning report');
    for (const name of ['', '  ', 'a'.repeat(201)])
      expect(() => checkName(name)).toThrow(refusal('INVALID_REQUEST', '/name'));
    expect(() => checkName('a\0')).toThrow(refusal('INVALID_TEXT', '/name'));
    expect(checkName('😀'.repeat(200))).toHaveLength(400);
  });

  it('limit their metadata', () => {
    checkMetadata({ team: 'support' });
    expect(() => checkMetadata({ '': 'x' })).toThrow(refusal('INVALID_REQUEST', '/metadata'));
    expect(() => checkMetadata({ team: 'x'.repeat(501) })).toThrow(
      refusal('INVALID_REQUEST', '/metadata/team'),
    );
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'x']));
    expect(() => checkMetadata(many)).toThrow(refusal('INVALID_REQUEST', '/metadata'));
  });
});

describe('previews', () => {
  it('check the timing and the jitter', () => {
    expect(checkPreview(DAILY, 60, NOW, LIMITS).cron).toBe('0 0 * * *');
    expect(() => checkPreview(DAILY, 4_000, NOW, LIMITS)).toThrow(
      refusal('INVALID_SCHEDULE', '/jitter_seconds'),
    );
    expect(() => checkPreview({ ...ABSENT, at: ago(1) }, 0, NOW, LIMITS)).toThrow(
      refusal('INVALID_SCHEDULE', '/at'),
    );
  });
});

describe('changes of schedules', () => {
  type Change = Parameters<typeof applyChange>[1];
  const UNCHANGED = {
    replacesKind: false,
    at: undefined,
    startAt: undefined,
    endAt: undefined,
    dst: undefined,
  };
  const apply = (current: Partial<Request>, change: Partial<Change>, now = NOW) =>
    applyChange(check(current), { timing: UNCHANGED, ...change }, now, LIMITS, NOW);

  it('leave absent members unchanged', () => {
    expect(apply({}, {})).toEqual(check({}));
    expect(apply({}, { timing: undefined, prompt: 'New' })).toEqual(check({ prompt: 'New' }));
  });

  it('replace the kind of the timing and keep its zone', () => {
    const berlin = { timing: { ...DAILY, timezone: 'Europe/Berlin' } };
    const changed = apply(berlin, { timing: { ...UNCHANGED, replacesKind: true, everySeconds: 600 } });
    expect(changed.timing).toMatchObject({
      kind: 'every',
      cron: null,
      everySeconds: 600,
      timezone: 'Europe/Berlin',
    });
    expect(() => apply({}, { timing: { ...UNCHANGED, replacesKind: true } })).toThrow(
      refusal('INVALID_SCHEDULE', '/cron'),
    );
  });

  it('change zone, bounds and one member of dst', () => {
    const bounded = { timing: { ...DAILY, startAt: NOW, endAt: new Date('2027-01-01T00:00:00Z') } };
    const { timing } = apply(bounded, {
      timing: {
        ...UNCHANGED,
        timezone: '',
        endAt: { time: undefined },
        dst: { missing: '', repeated: 'both' },
      },
    });
    expect(timing).toMatchObject({
      timezone: 'UTC',
      startAt: NOW,
      endAt: null,
      dst: { missing: 'shift', repeated: 'both' },
    });
  });

  it('do not check an unchanged timing again', () => {
    const later = new Date('2026-06-01T00:00:00Z');
    expect(apply({ timing: { ...ABSENT, at: NOW } }, { prompt: 'New' }, later).prompt).toBe('New');
    expect(() =>
      apply(
        { timing: { ...ABSENT, at: NOW } },
        { timing: { ...UNCHANGED, timezone: 'Europe/Berlin' } },
        later,
      ),
    ).toThrow(refusal('INVALID_SCHEDULE', '/at'));
  });

  it('check a longer jitter against an unchanged timing', () => {
    const minutes = { timing: { ...ABSENT, cron: '*/10 * * * *' } };
    expect(apply(minutes, { jitterSeconds: 299 }).jitterSeconds).toBe(299);
    expect(() => apply(minutes, { jitterSeconds: 300 })).toThrow(
      refusal('INVALID_SCHEDULE', '/jitter_seconds'),
    );
  });

  it('drop the session of a schedule that no longer continues one', () => {
    const continued = { sessionMode: 'continue', sessionId: 'ses_1' };
    expect(apply(continued, { sessionMode: 'new' })).toMatchObject({ sessionMode: 'new', sessionId: null });
    expect(apply(continued, { sessionId: '' }).sessionId).toBeNull();
    expect(apply({}, { sessionMode: 'continue', sessionId: 'ses_2' }).sessionId).toBe('ses_2');
    expect(() => apply({}, { sessionId: 'ses_2' })).toThrow(refusal('INVALID_SCHEDULE', '/session_id'));
  });

  it('are refused as new settings are', () => {
    expect(() => apply({}, { prompt: '{{x}}' })).toThrow(refusal('INVALID_SCHEDULE', '/prompt'));
    expect(() => apply({}, { overlap: 'x' })).toThrow(refusal('INVALID_SCHEDULE', '/overlap'));
  });
});
