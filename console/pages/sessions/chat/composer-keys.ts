import type { KeyboardEvent } from 'react';

type PressedKey = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey'> & {
  nativeEvent: { isComposing: boolean };
};

/**
 * How a key sends the message: Enter queues it, and with Ctrl or ⌘ the running turn gets it before its next step. Undefined
 * for a key that does not send.
 */
export function sendingKey(
  { key, shiftKey, ctrlKey, metaKey, nativeEvent }: PressedKey,
  isRunning: boolean,
): 'enqueue' | 'steer' | undefined {
  // Enter confirms a character of an input method editor.
  if (key !== 'Enter' || shiftKey || nativeEvent.isComposing) return undefined;
  return isRunning && (ctrlKey || metaKey) ? 'steer' : 'enqueue';
}
