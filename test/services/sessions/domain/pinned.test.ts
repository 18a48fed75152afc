import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../lib/errors.ts';
import { pinnedBytesOf, requirePinnable } from '../../../../services/sessions/domain/pinned.ts';
import { send } from '../../../../services/sessions/domain/send.ts';
import { NO_CONTEXT } from '../../../../services/sessions/store/decisions.ts';
import { dataOf, NOW, sessionState, USER } from './states.ts';

describe('pinnedBytesOf', () => {
  it.each([
    ['a text in UTF-8', [{ type: 'text', text: 'a"é\n' }], 5],
    [
      'images and files with their bytes',
      [
        { type: 'text', text: 'a' },
        { type: 'image', size: 700 },
      ],
      701,
    ],
    ['an empty text as one byte', [{ type: 'text', text: '' }], 1],
  ])('counts %s', (_, content, bytes) => expect(pinnedBytesOf(content)).toBe(bytes));
});

describe('requirePinnable', () => {
  const refusalOf = (messages: number, pinned: number, bytes: number) => {
    try {
      requirePinnable({ messages, bytes: pinned }, bytes);
    } catch (error) {
      if (error instanceof Refusal) return { code: error.code, details: error.details };
      throw error;
    }
    return undefined;
  };

  it('allows eight messages of 16 KiB together', () => {
    expect(refusalOf(7, 14 * 1024, 2 * 1024)).toBeUndefined();
    expect(refusalOf(0, 0, 16 * 1024)).toBeUndefined();
  });

  it.each([
    ['a ninth message', 8, 0, 1, 'has 8 pinned messages'],
    ['one byte more', 1, 16 * 1024, 1, 'The message has 1 bytes'],
    ['a message that is too large itself', 0, 0, 16 * 1024 + 1, 'The message has 16385 bytes'],
  ])('refuses %s', (_, messages, pinned, bytes, problem) => {
    expect(refusalOf(messages, pinned, bytes)).toEqual({
      code: 'PINNED_LIMIT_EXCEEDED',
      details: [{ pointer: '/pinned', message: expect.stringContaining(problem) }],
    });
  });
});

describe('send', () => {
  const message = {
    ...{
      turnId: 'trn_new',
      contentJson: '[]',
      actor: USER,
      traceparent: undefined,
      overridesJson: undefined,
    },
    ...{ busyPolicy: 'enqueue' as const, isTriggered: false, now: NOW },
  };
  const state = sessionState({ status: 'idle' });

  it('marks a pinned message in its event, and records its bytes with its turn', () => {
    const pinned = send(state, NO_CONTEXT, { ...message, pinnedBytes: 3 });
    expect(dataOf(pinned, 'user.message')).toEqual({ content: [], pinned: true });
    expect(pinned.newTurn?.pinnedBytes).toBe(3);
    const other = send(state, NO_CONTEXT, message);
    expect(dataOf(other, 'user.message')).toEqual({ content: [] });
    expect(other.newTurn?.pinnedBytes).toBeUndefined();
  });

  it('does not apply the limits to a message that is not pinned', () => {
    const full = { ...NO_CONTEXT, pinned: { messages: 8, bytes: 16 * 1024 } };
    expect(send(state, full, message).newTurn?.turnId).toBe('trn_new');
    expect(() => send(state, full, { ...message, pinnedBytes: 1 })).toThrow('8 pinned messages');
  });
});
