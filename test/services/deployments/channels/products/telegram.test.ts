import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { telegram } from '../../../../../services/deployments/channels/products/telegram/product.ts';
import { APPROVAL, IDENTITIES, TELEGRAM_SECRET } from '../fixtures.ts';
import { eventOf, request, resultOf } from './events.ts';

const GROUP = { id: -1001, type: 'supergroup', title: 'Team' };
const ADA = { id: 11, is_bot: false, first_name: 'Ada', last_name: 'L' };
const BOT = { id: 7000000001, is_bot: true, first_name: 'Desk', username: 'order_desk_bot' };

function message(members: object) {
  const given = { message_id: 5, date: 1_700_000_000, chat: GROUP, from: ADA, ...members };
  return telegram.parse({ update_id: 42, message: given }, IDENTITIES.telegram);
}

const command = (text: string, length = text.length) =>
  message({ text, entities: [{ type: 'bot_command', offset: 0, length }] });

describe('verification of Telegram', () => {
  const verify = telegram.createVerifier({ webhook_secret: TELEGRAM_SECRET });
  const header = ['x-telegram-bot-api-secret-token', TELEGRAM_SECRET] as const;
  const now = new Date();

  it.each([
    [undefined, [header]],
    [undefined, [['X-Telegram-Bot-Api-Secret-Token', TELEGRAM_SECRET] as const]],
    ['missing_secret_token', []],
    ['duplicate_secret_token', [header, header]],
    ['bad_secret_token', [[header[0], `${TELEGRAM_SECRET}x`] as const]],
    ['bad_secret_token', [[header[0], ''] as const]],
  ])('returns %s', (fault, headers) => {
    expect(verify(request('{}', headers), now)).toBe(fault);
  });

  it.each([
    [undefined, TELEGRAM_SECRET],
    ['bad_secret_token', `${TELEGRAM_SECRET}x`],
  ])('returns %s for a digest of the edge, which keeps the secret', (fault, secret) => {
    const valueSha256 = hash('sha256', secret, 'buffer');
    expect(
      verify({ headers: [{ name: header[0], value: '', valueSha256 }], body: Buffer.from('{}') }, now),
    ).toBe(fault);
  });

  it('refuses an empty token when the channel has none', () => {
    expect(telegram.createVerifier({})(request('{}', [[header[0], '']]), now)).toBe('bad_secret_token');
  });
});

describe('updates of Telegram', () => {
  it('reads a mention in a group without the mention', () => {
    const entities = [{ type: 'mention', offset: 0, length: 15 }];
    expect(eventOf(message({ text: '@Order_Desk_Bot, status?', entities }))).toMatchObject({
      dedupeKey: 'update:42',
      orderKey: '00000000000000000005',
      kind: 'message',
      place: { place: '-1001', thread: '', isGroup: true },
      title: 'Team',
      senderId: '11',
      senderName: 'Ada L',
      mentionsBot: true,
      text: 'status?',
      sentAt: new Date(1_700_000_000_000),
      messageId: '5',
    });
  });

  it('counts offsets of entities in UTF-16 code units', () => {
    const entities = [{ type: 'mention', offset: 3, length: 15 }];
    expect(eventOf(message({ text: '🚀 @order_desk_bot', entities })).mentionsBot).toBe(true);
  });

  it('recognizes a mention of the bot without a username', () => {
    const entities = [{ type: 'text_mention', offset: 0, length: 4, user: BOT }];
    expect(eventOf(message({ text: 'Desk hi', entities })).mentionsBot).toBe(true);
  });

  it('does not take a mention of another name for one of the bot', () => {
    const entities = [{ type: 'mention', offset: 0, length: 16 }];
    expect(eventOf(message({ text: '@order_desk_bot2 hi', entities })).mentionsBot).toBe(false);
  });

  it('recognizes replies to the bot, but not the implied reply to a topic that the bot created', () => {
    expect(eventOf(message({ text: 'x', reply_to_message: { from: BOT } })).repliesToBot).toBe(true);
    expect(eventOf(message({ text: 'x', reply_to_message: { from: ADA } })).repliesToBot).toBe(false);
    const topic = { from: BOT, forum_topic_created: { name: 'Ops' } };
    expect(eventOf(message({ text: 'x', reply_to_message: topic })).repliesToBot).toBe(false);
  });

  it('separates topics, and does not take the thread of a reply for a topic', () => {
    expect(eventOf(message({ text: 'x', message_thread_id: 9, is_topic_message: true })).place?.thread).toBe(
      '9',
    );
    expect(eventOf(message({ text: 'x', message_thread_id: 9 })).place?.thread).toBe('');
  });

  it('reads a private chat as direct', () => {
    expect(eventOf(message({ text: 'x', chat: { id: 11, type: 'private' } })).place).toEqual({
      place: '11',
      thread: '',
      isGroup: false,
    });
  });

  it('reads files with their caption, and the largest size of a photo', () => {
    const photo = [
      { file_id: 'small', file_size: 10 },
      { file_id: 'large', file_size: 1000 },
    ];
    const entities = [{ type: 'mention', offset: 6, length: 15 }];
    const parsed = message({ caption: 'Look, @order_desk_bot', caption_entities: entities, photo });
    expect(eventOf(parsed)).toMatchObject({
      text: 'Look, @order_desk_bot',
      mentionsBot: true,
      files: [{ fileId: 'large', name: 'photo.jpg', size: 1000, mediaType: 'image/jpeg', url: '' }],
    });
    const document = { file_id: 'd', file_name: 'a.csv', mime_type: 'text/csv', file_size: 3 };
    expect(eventOf(message({ document })).files).toMatchObject([
      { fileId: 'd', name: 'a.csv', mediaType: 'text/csv' },
    ]);
  });

  it.each([
    ['/new', 'new'],
    ['/New@Order_Desk_Bot', 'new'],
    ['/start', 'help'],
    ['/stop', 'stop'],
  ])('reads %s as the command %s', (text, expected) => {
    expect(eventOf(command(text))).toMatchObject({ kind: 'command', command: expected, mentionsBot: true });
  });

  it('reads other commands as messages, which in a group need the name of the bot', () => {
    expect(eventOf(command('/summary'))).toMatchObject({
      kind: 'message',
      text: '/summary',
      mentionsBot: false,
    });
    expect(eventOf(command('/summary@order_desk_bot'))).toMatchObject({ kind: 'message', mentionsBot: true });
    expect(eventOf(message({ text: '!unlink' }))).toMatchObject({ kind: 'command', command: 'unlink' });
  });

  it('reads a click whose data is the decision and the approval', () => {
    const query = {
      id: '777',
      from: ADA,
      data: `deny:${APPROVAL}`,
      message: { message_id: 5, chat: GROUP, from: BOT },
    };
    expect(
      eventOf(telegram.parse({ update_id: 43, callback_query: query }, IDENTITIES.telegram)),
    ).toMatchObject({
      dedupeKey: 'update:43',
      kind: 'action',
      senderId: '11',
      approvalId: APPROVAL,
      decision: 'deny',
      messageExternalId: '5',
      answerToken: '777',
      place: { place: '-1001', thread: '', isGroup: true },
    });
  });

  it.each([
    [
      'ignored other_bot',
      { text: '/new@other_bot', entities: [{ type: 'bot_command', offset: 0, length: 14 }] },
    ],
    ['ignored bot', { text: 'x', from: { id: 12, is_bot: true } }],
    ['ignored own_message', { text: 'x', from: BOT }],
    ['ignored anonymous_sender', { text: 'x', from: { id: 1087968824, is_bot: true }, sender_chat: GROUP }],
    ['ignored moved', { migrate_to_chat_id: -1_000_000_000_005 }],
    ['ignored joined', { new_chat_members: [ADA] }],
    ['ignored no_content', { pinned_message: {} }],
    ['ignored no_sender', { text: 'x', from: undefined }],
    ['ignored malformed', { text: 'x', chat: {} }],
  ])('has the result %s for %j', (result, members) => {
    expect(resultOf(message(members))).toBe(result);
  });

  it.each([
    ['ignored edited', { update_id: 1, edited_message: { message_id: 1, chat: GROUP } }],
    ['ignored no_sender', { update_id: 1, channel_post: { message_id: 1, chat: GROUP } }],
    ['ignored unknown_event', { update_id: 1, my_chat_member: {} }],
    [
      'ignored unknown_action',
      { update_id: 1, callback_query: { id: '1', from: ADA, message: { message_id: 1, chat: GROUP } } },
    ],
    ['ignored malformed', { update_id: 1, callback_query: { id: '1', from: ADA } }],
    ['ignored malformed', {}],
  ])('has the result %s for the update %j', (result, update) => {
    expect(resultOf(telegram.parse(update, IDENTITIES.telegram))).toBe(result);
  });
});
