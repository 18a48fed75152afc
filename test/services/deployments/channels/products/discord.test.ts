import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { discord } from '../../../../../services/deployments/channels/products/discord/product.ts';
import { APPROVAL, type Headers, IDENTITIES } from '../fixtures.ts';
import { eventOf, request, resultOf, withHeader, without } from './events.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const BOT_ID = IDENTITIES.discord.botId;
const ADA = { id: '11', username: 'ada', global_name: 'Ada' };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const PUBLIC_KEY = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');

function signed(body: string, at = NOW): Headers {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return [
    ['x-signature-timestamp', timestamp],
    ['x-signature-ed25519', sign(null, Buffer.from(timestamp + body), privateKey).toString('hex')],
  ];
}

function message(members: object) {
  const d = { id: '500', channel_id: '100', guild_id: '1', type: 0, author: ADA, content: 'hi', ...members };
  return discord.parse({ t: 'MESSAGE_CREATE', d }, IDENTITIES.discord);
}

function interaction(members: object) {
  const d = {
    ...{ id: '900', application_id: IDENTITIES.discord.appId, type: 2, token: 'tok', guild_id: '1' },
    ...{
      channel_id: '100',
      channel: { id: '100', type: 0, name: 'general' },
      member: { nick: 'A', user: ADA },
    },
    ...members,
  };
  return discord.parse({ t: 'INTERACTION_CREATE', d }, IDENTITIES.discord);
}

describe('verification of Discord', () => {
  const verify = discord.createVerifier({ public_key: PUBLIC_KEY });
  const body = '{"type": 1}';
  const headers = signed(body);

  it('accepts the Ed25519 signature of timestamp and raw bytes, in digits of either case', () => {
    expect(verify(request(body, headers), NOW)).toBeUndefined();
    const upper = withHeader(headers, 'x-signature-ed25519', (value) => value.toUpperCase());
    expect(verify(request(body, upper), NOW)).toBeUndefined();
  });

  it.each([
    ['missing_timestamp', without(headers, 'x-signature-timestamp')],
    ['duplicate_timestamp', [...headers, headers[0]!]],
    ['stale_timestamp', signed(body, new Date(NOW.getTime() - 301_000))],
    ['missing_signature', without(headers, 'x-signature-ed25519')],
    ['duplicate_signature', [...headers, headers[1]!]],
    ['malformed_signature', withHeader(headers, 'x-signature-ed25519', (value) => value.slice(1))],
    ['bad_signature', withHeader(headers, 'x-signature-ed25519', () => '0'.repeat(128))],
    ['bad_signature', signed(`${body} `)],
  ])('refuses a request with %s', (fault, given) => {
    expect(verify(request(body, given), NOW)).toBe(fault);
  });

  it.each(['', 'zz', '0'.repeat(64)])('refuses every signature with the public key "%s"', (key) => {
    expect(discord.createVerifier({ public_key: key })(request(body, headers), NOW)).toBe('bad_signature');
  });
});

describe('events of Discord', () => {
  it('reads a mention in a channel as a message of the thread that is created from it', () => {
    const mention = {
      content: `<@${BOT_ID}> hello <@22>`,
      mentions: [{ id: BOT_ID }],
      timestamp: NOW.toISOString(),
    };
    expect(eventOf(message(mention))).toMatchObject({
      dedupeKey: 'message:500',
      orderKey: '00000000000000000500',
      kind: 'message',
      place: { place: '100', thread: '500', isGroup: true },
      senderId: '11',
      senderName: 'Ada',
      team: '1',
      mentionsBot: true,
      text: 'hello <@22>',
      sentAt: NOW,
    });
  });

  it.each([
    ['channel_type', { channel_type: 11 }],
    ['position, when the type of the channel is not given', { position: 3 }],
  ])('recognizes a message in a thread by its %s', (_, members) => {
    expect(eventOf(message({ channel_id: '500', id: '501', ...members })).place).toEqual({
      place: '500',
      thread: '500',
      isGroup: true,
    });
  });

  it('reads a direct message', () => {
    expect(eventOf(message({ guild_id: undefined, channel_type: 1 })).place).toEqual({
      place: '100',
      thread: '',
      isGroup: false,
    });
  });

  it('recognizes a reply to the bot, and reads attachments', () => {
    const attachments = [
      { id: '7', filename: 'a.png', content_type: 'image/png', size: 9, url: 'https://cdn.example/a' },
    ];
    const reply = { type: 19, referenced_message: { author: { id: BOT_ID } }, content: '', attachments };
    expect(eventOf(message(reply))).toMatchObject({
      repliesToBot: true,
      text: '',
      files: [{ fileId: '7', name: 'a.png', mediaType: 'image/png', size: 9, url: 'https://cdn.example/a' }],
    });
  });

  it.each([
    ['ignored own_message', { author: { id: BOT_ID, bot: true } }],
    ['ignored bot', { author: { id: '5', bot: true } }],
    ['ignored bot', { webhook_id: '6' }],
    ['ignored joined', { type: 7 }],
    ['ignored system_message', { type: 6 }],
    ['ignored no_content', { content: '' }],
    ['ignored no_sender', { author: undefined }],
    ['ignored malformed', { id: undefined }],
  ])('has the result %s for a message with %j', (result, members) => {
    expect(resultOf(message(members))).toBe(result);
  });

  it.each([
    ['ignored edited', 'MESSAGE_UPDATE'],
    ['ignored deleted', 'MESSAGE_DELETE'],
    ['ignored unknown_event', 'TYPING_START'],
    ['ignored unknown_event', 'constructor'],
  ])('has the result %s for the dispatch %s', (result, t) => {
    expect(resultOf(discord.parse({ t, d: {} }, IDENTITIES.discord))).toBe(result);
  });

  it('reads a command, its sender in a server, and the token for the answer', () => {
    expect(eventOf(interaction({ data: { name: 'stop' } }))).toMatchObject({
      dedupeKey: 'interaction:900',
      kind: 'command',
      command: 'stop',
      senderId: '11',
      senderName: 'A',
      answerToken: 'tok',
      mentionsBot: true,
      place: { place: '100', thread: '', isGroup: true },
    });
  });

  it('reads the text of /ask as a message, also in a direct message', () => {
    const data = { name: 'ask', options: [{ name: 'message', type: 3, value: ' what now? ' }] };
    const direct = { guild_id: undefined, member: undefined, user: ADA, data };
    expect(eventOf(interaction(direct))).toMatchObject({
      kind: 'message',
      text: 'what now?',
      place: { place: '100', thread: '', isGroup: false },
    });
  });

  it('reads a click in a thread whose custom_id is the decision and the approval', () => {
    const click = {
      type: 3,
      channel_id: '500',
      channel: { id: '500', type: 11, parent_id: '100' },
      message: { id: '777' },
      data: { custom_id: `allow:${APPROVAL}` },
    };
    expect(eventOf(interaction(click))).toMatchObject({
      kind: 'action',
      approvalId: APPROVAL,
      decision: 'allow',
      messageExternalId: '777',
      place: { place: '100', thread: '500', isGroup: true },
    });
  });

  it.each([
    ['refused app_mismatch', { application_id: '3' }],
    ['ignored unknown_action', { type: 3, data: { custom_id: 'x' } }],
    ['ignored unknown_event', { type: 4 }],
    ['ignored unknown_event', { data: { name: 'other' } }],
    ['ignored malformed', { channel_id: undefined, channel: undefined }],
  ])('has the result %s for an interaction with %j', (result, members) => {
    expect(resultOf(interaction(members))).toBe(result);
  });

  it('takes only a PING for a check of the endpoint', () => {
    const isCheck = (type: number) => discord.isCheck(discord.decode(request(JSON.stringify({ type }), [])));
    expect([1, 2, 3].map(isCheck)).toEqual([true, false, false]);
    expect(discord.isCheck(undefined)).toBe(false);
  });

  it.each([
    [1, { type: 1 }],
    // Only the sender of a command sees its answer.
    [2, { type: 5, data: { flags: 64 } }],
    [3, { type: 6 }],
    [4, { type: 6 }],
  ])('answers an interaction of type %i with %j', (type, expected) => {
    const event = discord.decode(request(JSON.stringify({ type }), []));
    const answer = discord.answer(event, undefined);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expected]);
  });
});
