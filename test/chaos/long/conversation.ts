import { type OutputPart, textsIn } from '../../support/providers/protocol.ts';
import type { StrictRequest } from '../../support/providers/strict-provider.ts';

export const CODE_WORD = 'code-heron';
export const FIRST_MESSAGE = `The word is ${CODE_WORD}. Keep it.`;
export const LAST_MESSAGE = 'Which code word?';

/** The message to which the model reads `count` logs of this size in parallel. */
export function readLogs(count: number, bytes: number): string {
  return `Read ${count} logs of ${bytes} bytes.`;
}

let calls = 0;

/** The model: reads logs as the last message says, and repeats the code words that it still has. */
export function answerOf({ messages, text }: StrictRequest): OutputPart[] {
  const last = messages.at(-1);
  const asked = last?.role === 'user' ? textsIn(last.content ?? '').join('') : '';
  if (asked === LAST_MESSAGE) return [{ text: [...new Set(text.match(/code-\w+/g) ?? [])].join(' ') }];
  const [, count = 0, bytes = 0] = /^Read (\d+) logs of (\d+) bytes/.exec(asked)?.map(Number) ?? [];
  if (count === 0) return [{ text: 'Done.' }];
  return Array.from({ length: count }, () => {
    const label = `log_${++calls}`;
    return { call: `call_${calls}`, name: 'read_log', input: JSON.stringify({ label, bytes }) };
  });
}
