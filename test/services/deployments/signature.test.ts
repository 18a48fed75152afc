import { createHash, createHmac, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSignatureFault, type SignedRequest } from '../../../services/deployments/webhooks/signature.ts';

const SECRET = 'whsec_Zm9yIHRoZSB0YWJsZSBvZiB2YXJpYXRpb25z';
const NOW_SECONDS = 1_767_225_600;
const NOW = new Date(NOW_SECONDS * 1000 + 999);
const WINDOW = 300;
const BODY = Buffer.from('{"order": 42, "note": "für 🚀"}');

/** Signs as the specification says, with other functions than the code under test. */
function sign(timestamp: string, body: Uint8Array, secret = SECRET): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${timestamp}.${digest}`).digest('base64');
}

function faultOf(call: Partial<SignedRequest>, secret = SECRET) {
  const timestamps = call.timestamps ?? [String(NOW_SECONDS)];
  const body = call.body ?? BODY;
  const signatures = call.signatures ?? [sign(timestamps[0] ?? '', body)];
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  return findSignatureFault({ timestamps, signatures, body }, { key, now: NOW, windowSeconds: WINDOW });
}

/** Signs any timestamp, so that only the timestamp can be at fault. */
const stamped = (timestamp: string) => faultOf({ timestamps: [timestamp] });
const signed = (signature: string) => faultOf({ signatures: [signature] });
const GOOD = sign(String(NOW_SECONDS), BODY);

describe('findSignatureFault', () => {
  it('accepts a signature that openssl computed', () => {
    const body = Buffer.from('{"event":"ping"}');
    const key = createSecretKey(Buffer.from('whsec_test', 'utf8'));
    // printf '%s.%s' 1700000000 "$(printf '{"event":"ping"}' | sha256sum | cut -d' ' -f1)" | openssl dgst -sha256 -hmac whsec_test -binary | base64
    const signatures = ['JjcEcVRv2lZacqVL81hlnw7H8NajqjrQRH1fxGv1M4M='];
    const measure = { key, now: new Date(1_700_000_000_000), windowSeconds: 1 };
    expect(findSignatureFault({ timestamps: ['1700000000'], signatures, body }, measure)).toBeUndefined();
  });

  it.each([
    ['now', NOW_SECONDS],
    ['as old as the window', NOW_SECONDS - WINDOW],
    ['as early as the window', NOW_SECONDS + WINDOW],
  ])('accepts a timestamp that is %s', (_, timestamp) => {
    expect(stamped(String(timestamp))).toBeUndefined();
  });

  it('accepts leading zeros up to 15 digits', () => {
    expect(stamped(String(NOW_SECONDS).padStart(15, '0'))).toBeUndefined();
    expect(faultOf({ timestamps: [`0${NOW_SECONDS}`], signatures: [GOOD] })).toBe('bad_signature');
  });

  it.each([
    ['a second older than the window', NOW_SECONDS - WINDOW - 1],
    ['a second earlier than the window', NOW_SECONDS + WINDOW + 1],
    ['zero', 0],
    ['in milliseconds', NOW_SECONDS * 1000],
    ['the largest there can be', 999_999_999_999_999],
  ])('returns stale_timestamp for a timestamp that is %s', (_, timestamp) => {
    expect(stamped(String(timestamp))).toBe('stale_timestamp');
  });

  it.each([
    '',
    ' ',
    `+${NOW_SECONDS}`,
    `-${NOW_SECONDS}`,
    ` ${NOW_SECONDS}`,
    `${NOW_SECONDS} `,
    `${NOW_SECONDS}\n`,
    `${NOW_SECONDS}.0`,
    `${NOW_SECONDS}.`,
    `${NOW_SECONDS}e0`,
    `0x${NOW_SECONDS.toString(16)}`,
    `${NOW_SECONDS},${NOW_SECONDS}`,
    `${NOW_SECONDS}`.padStart(16, '0'),
    '1_767_225_600',
    '١٧٦٧٢٢٥٦٠٠',
    '１７６７２２５６００',
    'now',
    'NaN',
    'Infinity',
    '2026-01-01T00:00:00Z',
  ])('returns malformed_timestamp for %j', (timestamp) => {
    expect(stamped(timestamp)).toBe('malformed_timestamp');
  });

  it('requires exactly one timestamp and one signature', () => {
    const timestamp = String(NOW_SECONDS);
    expect(faultOf({ timestamps: [], signatures: [GOOD] })).toBe('missing_timestamp');
    expect(faultOf({ timestamps: [timestamp, timestamp] })).toBe('duplicate_timestamp');
    expect(faultOf({ signatures: [] })).toBe('missing_signature');
    expect(faultOf({ signatures: [GOOD, GOOD] })).toBe('duplicate_signature');
    expect(faultOf({ timestamps: [], signatures: [] })).toBe('missing_timestamp');
  });

  it.each([
    ['empty', ''],
    ['hexadecimal', Buffer.from(GOOD, 'base64').toString('hex')],
    ['without padding', GOOD.replace('=', '')],
    ['with more padding', `${GOOD}=`],
    ['with a blank before', ` ${GOOD}`],
    ['with a blank after', `${GOOD} `],
    ['with a line break', `${GOOD.slice(0, 20)}\n${GOOD.slice(20)}`],
    ['with a scheme before', `sha256=${GOOD}`],
    ['two in one', `${GOOD},${GOOD}`],
    ['of 31 bytes', Buffer.alloc(31).toString('base64')],
    ['of 33 bytes', Buffer.alloc(33).toString('base64')],
    ['with a character outside the alphabet', `!${GOOD.slice(1)}`],
    ['with bits beyond the 32 bytes', nonCanonical(GOOD)],
    ['twice encoded', Buffer.from(GOOD).toString('base64')],
  ])('returns malformed_signature for a signature that is %s', (_, signature) => {
    expect(signed(signature)).toBe('malformed_signature');
  });

  it('returns malformed_signature for base64url', () => {
    let body: Buffer;
    let at = 0;
    do body = Buffer.from(`body ${at++}`);
    while (!/[+/]/.test(sign(String(NOW_SECONDS), body)));
    const signature = sign(String(NOW_SECONDS), body).replaceAll('+', '-').replaceAll('/', '_');
    expect(faultOf({ body, signatures: [signature] })).toBe('malformed_signature');
  });

  it.each<[string, string]>([
    ['another secret', sign(String(NOW_SECONDS), BODY, `${SECRET}x`)],
    ['another timestamp', sign(String(NOW_SECONDS + 1), BODY)],
    ['another body', sign(String(NOW_SECONDS), Buffer.from('{}'))],
    ['the body itself instead of its digest', hmac(`${NOW_SECONDS}.${BODY}`)],
    ['an uppercase digest', hmac(`${NOW_SECONDS}.${sha256(BODY).toUpperCase()}`)],
    ['no period between', hmac(`${NOW_SECONDS}${sha256(BODY)}`)],
    ['the digest alone', hmac(sha256(BODY))],
    ['SHA-1 cut and filled', Buffer.alloc(32, createHmac('sha1', SECRET).digest()).toString('base64')],
    ['the decoded secret as key', decodedKey()],
  ])('returns bad_signature for a signature that is made with %s', (_, signature) => {
    expect(signed(signature)).toBe('bad_signature');
  });

  const call = fc.record({
    body: fc.uint8Array({ maxLength: 300 }),
    age: fc.integer({ min: -WINDOW, max: WINDOW }),
    secret: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  });

  it('accepts every body, timestamp within the window and secret', () => {
    fc.assert(
      fc.property(call, ({ body, age, secret }) => {
        const timestamp = String(NOW_SECONDS + age);
        const signatures = [sign(timestamp, body, secret)];
        expect(faultOf({ timestamps: [timestamp], signatures, body }, secret)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it('rejects a signed request after any single change', () => {
    const change = fc.record({
      what: fc.constantFrom('body', 'longer body', 'timestamp', 'signature', 'secret'),
      at: fc.nat(),
      by: fc.integer({ min: 1, max: 255 }),
    });
    fc.assert(
      fc.property(call, change, ({ body, age, secret }, { what, at, by }) => {
        const timestamp = String(NOW_SECONDS + age);
        const signature = sign(timestamp, body, secret);
        const changed = {
          timestamps: [what === 'timestamp' ? replaced(timestamp, at, '0123456789', by) : timestamp],
          signatures: [what === 'signature' ? replaced(signature, at, `${BASE64}=`, by) : signature],
          body:
            what === 'longer body'
              ? Buffer.from([...body, by])
              : what === 'body'
                ? flipped(body, at, by)
                : body,
        };
        fc.pre(what !== 'body' || body.length > 0);
        expect(faultOf(changed, what === 'secret' ? `${secret}${by}` : secret)).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function hmac(text: string): string {
  return createHmac('sha256', SECRET).update(text).digest('base64');
}

function sha256(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

function decodedKey(): string {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  return createHmac('sha256', key)
    .update(`${NOW_SECONDS}.${sha256(BODY)}`)
    .digest('base64');
}

/** The same 32 bytes, with one of the unused bits of the last Base64 character set. */
function nonCanonical(signature: string): string {
  const last = BASE64.indexOf(signature.at(42)!);
  return `${signature.slice(0, 42)}${BASE64[last + 1]}=`;
}

/** The text with one character replaced by another character of the alphabet. */
function replaced(text: string, at: number, alphabet: string, by: number): string {
  const place = at % text.length;
  const others = [...alphabet].filter((character) => character !== text[place]);
  return text.slice(0, place) + others[by % others.length] + text.slice(place + 1);
}

function flipped(body: Uint8Array, at: number, by: number): Uint8Array {
  return body.map((byte, place) => (place === at % body.length ? byte ^ by : byte));
}
