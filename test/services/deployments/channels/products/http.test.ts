import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../../lib/errors.ts';
import { http } from '../../../../../services/deployments/channels/products/http/product.ts';
import { APPROVAL, HTTP_SECRET, httpHeaders, httpMessage } from '../fixtures.ts';
import { eventOf, request, withHeader, without } from './events.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const COMMON = { conversation: 'room-1', user: { id: 'u1', name: 'Ada' } };

/** The pointers of the refusal of a body. */
function pointersOf(body: unknown): string[] {
  try {
    http.parse(body);
  } catch (error) {
    if (error instanceof Refusal && ['INVALID_REQUEST', 'INVALID_TEXT'].includes(error.code))
      return error.details?.map(({ pointer }) => pointer) ?? [];
    throw error;
  }
  return [];
}

describe('verification of the provider http', () => {
  const verify = http.createVerifier({ shared_secret: HTTP_SECRET });
  const body = httpMessage('m1');
  const headers = httpHeaders(body, NOW);
  const signature = headers[2]?.[1] ?? '';

  it('accepts the example of Standard Webhooks', () => {
    const documented = http.createVerifier({ shared_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
    const given = request('{"test": 2432232314}', [
      ['webhook-id', 'msg_p5jXN8AQM9LWM0D4loKWxJek'],
      ['webhook-timestamp', '1614265330'],
      ['webhook-signature', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    ]);
    expect(documented(given, new Date(1614265330_000))).toBeUndefined();
  });

  it('accepts one of several signatures, and ignores those of other versions', () => {
    const several = withHeader(
      headers,
      'webhook-signature',
      (value) => `v1a,AAAA v1,${'A'.repeat(43)}= ${value}`,
    );
    expect(verify(request(body, several), NOW)).toBeUndefined();
  });

  it.each([
    ['missing_id', without(headers, 'webhook-id')],
    ['duplicate_id', [...headers, headers[0]!]],
    ['malformed_id', withHeader(headers, 'webhook-id', () => 'a b')],
    ['missing_timestamp', without(headers, 'webhook-timestamp')],
    ['duplicate_timestamp', [...headers, headers[1]!]],
    ['malformed_timestamp', withHeader(headers, 'webhook-timestamp', () => '-1')],
    ['stale_timestamp', httpHeaders(body, new Date(NOW.getTime() + 301_000))],
    ['missing_signature', without(headers, 'webhook-signature')],
    ['duplicate_signature', [...headers, headers[2]!]],
    ['malformed_signature', withHeader(headers, 'webhook-signature', () => signature.replace('v1,', ''))],
    ['malformed_signature', withHeader(headers, 'webhook-signature', () => `${signature} `.replace('=', ''))],
    ['bad_signature', httpHeaders(`${body} `, NOW)],
    ['bad_signature', httpHeaders(body, NOW, `whsec_${Buffer.from('another').toString('base64')}`)],
    ['bad_signature', withHeader(headers, 'webhook-id', (value) => `${value}x`)],
  ])('refuses a request with %s', (fault, given) => {
    expect(verify(request(body, given), NOW)).toBe(fault);
  });

  it('verifies a request without a body over its target', () => {
    const target = '/api/v1/deployments/dep_1/posts?after=7&wait_seconds=20';
    expect(verify(request(target, httpHeaders(target, NOW)), NOW)).toBeUndefined();
    expect(verify(request(`${target}&x`, httpHeaders(target, NOW)), NOW)).toBe('bad_signature');
  });

  it('refuses every signature without a secret', () => {
    expect(http.createVerifier({})(request(body, httpHeaders(body, NOW, 'whsec_')), NOW)).toBe(
      'bad_signature',
    );
  });
});

describe('events of the provider http', () => {
  it('reads a message with files', () => {
    const files = [
      { name: 'a.txt', content_base64: Buffer.from('hi').toString('base64') },
      { name: 'b.png', url: 'https://files.example/b' },
    ];
    const body = { ...COMMON, type: 'message', message: { id: 'm1', text: 'Look', files } };
    expect(eventOf(http.parse(body))).toMatchObject({
      dedupeKey: 'message:m1',
      kind: 'message',
      place: { place: 'room-1', thread: '', isGroup: false },
      senderId: 'u1',
      senderName: 'Ada',
      text: 'Look',
      files: [
        { name: 'a.txt', size: 2, content: Buffer.from('hi') },
        { name: 'b.png', url: 'https://files.example/b' },
      ],
    });
  });

  it('separates the ids of messages, actions and commands', () => {
    const bodies = [
      { ...COMMON, type: 'message', message: { id: '1', text: 'x' } },
      { ...COMMON, type: 'action', action: { id: '1', approval_id: APPROVAL, decision: 'allow' } },
      { ...COMMON, type: 'command', command: { id: '1', name: 'new' } },
    ];
    const events = bodies.map((body) => eventOf(http.parse(body)));
    expect(events.map(({ dedupeKey }) => dedupeKey)).toEqual(['message:1', 'action:1', 'command:1']);
    expect(events[1]).toMatchObject({ kind: 'action', approvalId: APPROVAL, decision: 'allow' });
    expect(events[2]).toMatchObject({ kind: 'command', command: 'new' });
  });

  it('takes the id of the user for a missing name', () => {
    const body = { ...COMMON, user: { id: 'u1' }, type: 'command', command: { id: '1', name: 'new' } };
    expect(eventOf(http.parse(body)).senderName).toBe('u1');
  });

  it.each([
    [[''], undefined],
    [['/type'], { ...COMMON }],
    [['/type'], { ...COMMON, type: 'edit' }],
    [['/user', '/user/id'], { ...COMMON, user: 'u1', type: 'command', command: { id: '1', name: 'new' } }],
    [
      ['/user/id'],
      { ...COMMON, user: { id: '', name: 'A' }, type: 'command', command: { id: '1', name: 'new' } },
    ],
    [['/conversation'], { ...COMMON, conversation: 7, type: 'command', command: { id: '1', name: 'new' } }],
    [
      ['/conversation'],
      { ...COMMON, conversation: 'a\0', type: 'command', command: { id: '1', name: 'new' } },
    ],
    [
      ['/conversation'],
      { ...COMMON, conversation: 'x'.repeat(256), type: 'command', command: { id: '1', name: 'new' } },
    ],
    [['/extra'], { ...COMMON, extra: 1, type: 'command', command: { id: '1', name: 'new' } }],
    [['/message'], { ...COMMON, message: {}, type: 'command', command: { id: '1', name: 'new' } }],
    [['/message', '/message/id', '/message/text'], { ...COMMON, type: 'message' }],
    [['/message/text'], { ...COMMON, type: 'message', message: { id: '1', text: '' } }],
    [['/message/text'], { ...COMMON, type: 'message', message: { id: '1', text: ['x'] } }],
    [['/message/files'], { ...COMMON, type: 'message', message: { id: '1', text: 'x', files: {} } }],
    [
      ['/message/files/0'],
      { ...COMMON, type: 'message', message: { id: '1', text: 'x', files: [{ name: 'a' }] } },
    ],
    [
      ['/message/files/0/url'],
      {
        ...COMMON,
        type: 'message',
        message: { id: '1', text: 'x', files: [{ name: 'a', url: 'file:///etc' }] },
      },
    ],
    [
      ['/message/files/0/content_base64'],
      {
        ...COMMON,
        type: 'message',
        message: { id: '1', text: 'x', files: [{ name: 'a', content_base64: '?' }] },
      },
    ],
    [
      ['/action/approval_id'],
      { ...COMMON, type: 'action', action: { id: '1', approval_id: 'x', decision: 'deny' } },
    ],
    [
      ['/action/decision'],
      { ...COMMON, type: 'action', action: { id: '1', approval_id: APPROVAL, decision: 'yes' } },
    ],
    [['/command/name'], { ...COMMON, type: 'command', command: { id: '1', name: 'reset' } }],
    [['/command/a~1b'], { ...COMMON, type: 'command', command: { id: '1', name: 'new', 'a/b': 1 } }],
  ])('refuses with the pointers %j the body %j', (pointers, body) => {
    expect(pointersOf(body)).toEqual(pointers);
  });

  it('answers with the delivery in the envelope of the API', () => {
    const answer = http.answer({}, { deliveryId: 'dlv_1', sessionId: null, isDuplicate: true });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      202,
      { code: 'OK', message: 'success', data: { delivery_id: 'dlv_1', session_id: null, duplicate: true } },
    ]);
  });
});
