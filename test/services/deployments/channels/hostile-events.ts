import { APPROVAL } from './fixtures.ts';

type Random = () => number;

/** Events of each product in the form of AcceptEvents, from which hostile ones are made. */
export const SAMPLES = {
  slack: [
    {
      type: 'events_api',
      payload: {
        ...{ type: 'event_callback', team_id: 'T0TEAM', api_app_id: 'A0APP', event_id: 'Ev1' },
        authorizations: [{ team_id: 'T0TEAM' }],
        event: {
          ...{ type: 'message', subtype: 'file_share', user: 'U1', channel: 'C1', channel_type: 'channel' },
          ...{ ts: '1700000000.000100', thread_ts: '1700000000.000000', text: '<@U0BOT> hi <@U2|b>' },
          files: [{ id: 'F1', name: 'a', size: 1, url_private: 'https://files.slack.com/a' }],
        },
      },
    },
    {
      type: 'interactive',
      payload: {
        ...{ type: 'block_actions', team: { id: 'T0TEAM' }, api_app_id: 'A0APP', trigger_id: '1.1' },
        ...{ user: { id: 'U1' }, channel: { id: 'C1' }, container: { message_ts: '1700000000.000100' } },
        actions: [{ action_id: 'allow', value: APPROVAL }],
      },
    },
    {
      type: 'slash_commands',
      payload: {
        api_app_id: 'A0APP',
        team_id: 'T0TEAM',
        channel_id: 'C1',
        user_id: 'U1',
        text: 'new',
        trigger_id: '2',
      },
    },
  ],
  telegram: [
    {
      update_id: 1,
      message: {
        ...{
          message_id: 2,
          date: 1_700_000_000,
          chat: { id: -3, type: 'supergroup', title: 'T' },
          text: '/new@order_desk_bot',
        },
        ...{ from: { id: 4, first_name: 'A' }, message_thread_id: 5, is_topic_message: true },
        entities: [{ type: 'bot_command', offset: 0, length: 19 }],
        photo: [{ file_id: 'p', file_size: 1 }],
        reply_to_message: { from: { id: 7000000001 } },
      },
    },
    {
      update_id: 2,
      callback_query: {
        ...{ id: '1', from: { id: 4 }, data: `allow:${APPROVAL}` },
        message: { message_id: 2, chat: { id: -3, type: 'group' } },
      },
    },
  ],
  discord: [
    {
      t: 'MESSAGE_CREATE',
      d: {
        ...{
          id: '5',
          channel_id: '1',
          guild_id: '2',
          channel_type: 11,
          type: 19,
          content: '<@900000000000000001> x',
        },
        ...{ author: { id: '6', username: 'a' }, mentions: [{ id: '900000000000000001' }] },
        attachments: [{ id: '7', filename: 'f', url: 'https://cdn.example/f', size: 3 }],
        referenced_message: { author: { id: '900000000000000001' } },
      },
    },
    {
      t: 'INTERACTION_CREATE',
      d: {
        ...{ id: '8', type: 3, token: 't', guild_id: '2', channel: { id: '1', type: 11, parent_id: '9' } },
        ...{ member: { user: { id: '6' } }, message: { id: '3' }, data: { custom_id: `deny:${APPROVAL}` } },
      },
    },
  ],
  http: [
    {
      ...{ type: 'message', conversation: 'r', user: { id: 'u', name: 'A' } },
      message: { id: 'm', text: 'x', files: [{ name: 'f', content_base64: 'aGk=' }] },
    },
    {
      ...{ type: 'action', conversation: 'r', user: { id: 'u', name: 'A' } },
      action: { id: 'a', approval_id: APPROVAL, decision: 'allow' },
    },
  ],
} as const;

const HOSTILE: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER + 2,
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udc00x',
  ],
  ...[
    '🚀'.repeat(300),
    'x'.repeat(5_000),
    '<@>',
    '<@U0BOT',
    '((((',
    '/@',
    '__proto__',
    'constructor',
    'toString',
  ],
  ...[[], [[]], [null], {}, { constructor: 1 }, { id: { id: 1 } }, [1, 'x', {}]],
];

/** A copy of a value in which some members are replaced, removed or added. */
export function mutated(value: unknown, random: Random, rate = 0.12): unknown {
  const hostile = () => HOSTILE[Math.floor(random() * HOSTILE.length)];
  if (random() < rate) return hostile();
  if (Array.isArray(value)) return value.map((item) => mutated(item, random, rate));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(() => random() >= rate / 2)
    .map(([name, member]) => [name, mutated(member, random, rate)]);
  if (random() < rate / 2) members.push([`x${random()}`, hostile()]);
  return Object.fromEntries(members);
}
