import { describe, expect, it } from 'vitest';
import { addresseeOf, conversationOf } from '../../../../services/deployments/domain/channels/addressee.ts';

const GROUP = { place: 'C1', thread: '7', isGroup: true };
const event = { kind: 'message', place: GROUP, mentionsBot: false, repliesToBot: false };
const MENTIONS = { respondTo: 'mentions' } as const;

describe('addresseeOf', () => {
  it.each([
    ['a mention', { mentionsBot: true }, 'agent'],
    ['a reply to the bot', { repliesToBot: true }, 'agent'],
    ['a click', { kind: 'action' }, 'agent'],
    ['a direct message', { place: { ...GROUP, isGroup: false } }, 'agent'],
    ['a message in a thread', {}, 'if_known'],
    ['!new in a thread', { kind: 'command' }, 'if_known'],
    ['a message in a channel without threads', { place: { ...GROUP, thread: '' } }, 'others'],
  ])('decides about %s', (_, members, expected) => {
    expect(addresseeOf({ ...event, ...members }, MENTIONS, 'slack')).toBe(expected);
  });

  it('takes every message of a group with respond_to: all', () => {
    expect(addresseeOf(event, { respondTo: 'all' }, 'discord')).toBe('agent');
  });

  it('does not take a topic of Telegram for a thread of the bot', () => {
    expect(addresseeOf(event, MENTIONS, 'telegram')).toBe('others');
  });
});

describe('conversationOf', () => {
  const all = { perChat: true };
  const senderId = 'U1';

  it('is the thread, the topic, the chat or the direct message', () => {
    expect(conversationOf({ place: GROUP, senderId }, all, 'slack')).toBe('C1:7');
    expect(conversationOf({ place: GROUP, senderId }, all, 'telegram')).toBe('C1:7');
    expect(conversationOf({ place: { ...GROUP, thread: '' }, senderId }, all, 'telegram')).toBe('C1');
  });

  it('is the thread alone for Discord, whose messages in threads do not name the channel', () => {
    expect(conversationOf({ place: GROUP, senderId }, all, 'discord')).toBe('7');
    expect(conversationOf({ place: { ...GROUP, place: '7' }, senderId }, all, 'discord')).toBe('7');
  });

  it('is separate for each sender of a group with per_chat: false', () => {
    const separate = { perChat: false };
    expect(conversationOf({ place: GROUP, senderId }, separate, 'slack')).toBe('C1:7:U1');
    expect(conversationOf({ place: { ...GROUP, isGroup: false }, senderId }, separate, 'slack')).toBe('C1:7');
  });
});
