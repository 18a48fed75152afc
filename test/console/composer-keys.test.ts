import { describe, expect, it } from 'vitest';
import { sendingKey } from '../../console/pages/sessions/chat/composer-keys.ts';

const pressed = (more: object = {}, isComposing = false) => ({
  ...{ key: 'Enter', shiftKey: false, ctrlKey: false, metaKey: false, nativeEvent: { isComposing } },
  ...more,
});

describe('sendingKey', () => {
  it.each([
    ['Enter', {}, 'enqueue'],
    ['Ctrl+Enter', { ctrlKey: true }, 'steer'],
    ['⌘+Enter', { metaKey: true }, 'steer'],
    ['Shift+Enter', { shiftKey: true }, undefined],
    ['Ctrl+Shift+Enter', { ctrlKey: true, shiftKey: true }, undefined],
    ['another key', { key: 'a', ctrlKey: true }, undefined],
  ])('while a turn runs, %s', (_, more, expected) => expect(sendingKey(pressed(more), true)).toBe(expected));

  it('sends with Ctrl+Enter and ⌘+Enter as with Enter while no turn runs', () => {
    for (const more of [{ ctrlKey: true }, { metaKey: true }])
      expect(sendingKey(pressed(more), false)).toBe('enqueue');
  });

  it('does not send with the Enter that confirms a character of an input method editor', () => {
    expect(sendingKey(pressed({ ctrlKey: true }, true), true)).toBeUndefined();
  });
});
