import { type Refusal, refuse } from '../../../lib/errors.ts';

/** Pinned messages that one session may have. */
export const MAX_PINNED_MESSAGES = 8;
/** Their bytes together. */
export const MAX_PINNED_BYTES = 16 * 1024;

/** The pinned messages of a session, without those that were removed from the queue. */
export interface PinnedTotal {
  messages: number;
  bytes: number;
}

export const NOTHING_PINNED: PinnedTotal = { messages: 0, bytes: 0 };

/**
 * The bytes of a content as the journal has it: those of its texts in UTF-8, and those of its images and files. Each part
 * counts as at least one byte, so that the number of parts is limited, too.
 */
export function pinnedBytesOf(content: unknown): number {
  const parts: readonly { text?: unknown; size?: unknown }[] = Array.isArray(content) ? content : [];
  let bytes = 0;
  for (const { text, size } of parts) {
    const ofPart = typeof text === 'string' ? Buffer.byteLength(text) : Number(size ?? 0);
    bytes += Math.max(1, ofPart);
  }
  return bytes;
}

/** Refuses with PINNED_LIMIT_EXCEEDED a message of this many bytes that may not be pinned beside the others. */
export function requirePinnable(pinned: PinnedTotal, bytes: number): void {
  if (pinned.messages >= MAX_PINNED_MESSAGES)
    throw limitExceeded(
      `The session has ${pinned.messages} pinned messages, and ${MAX_PINNED_MESSAGES} are allowed.`,
    );
  if (pinned.bytes + bytes > MAX_PINNED_BYTES)
    throw limitExceeded(
      `The message has ${bytes} bytes and the pinned messages of the session have ${pinned.bytes}. Together they may have ` +
        `${MAX_PINNED_BYTES} bytes.`,
    );
}

function limitExceeded(problem: string): Refusal {
  return refuse('PINNED_LIMIT_EXCEEDED', `${problem} Send the message without pinned.`, {
    details: [{ pointer: '/pinned', message: problem }],
  });
}
