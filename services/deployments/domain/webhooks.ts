import { type Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { isStorable } from '../../../lib/text.ts';

const PREFIX_BYTES = 64 * 1024;

/** Returns undefined for an empty prefix. */
export function checkPromptPrefix(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (Buffer.byteLength(text) > PREFIX_BYTES) {
    throw refuseField('/prompt_prefix', `must not be longer than ${PREFIX_BYTES} bytes`);
  }
  if (!isStorable(text)) {
    const message = 'must not hold a NUL character or a lone surrogate';
    throw refuse('INVALID_TEXT', `/prompt_prefix ${message}`, {
      details: [{ pointer: '/prompt_prefix', message }],
    });
  }
  return text;
}

/** The type of a deployment cannot be changed. */
export function typeImmutable(): Refusal {
  return refuse(
    'DEPLOYMENT_IMMUTABLE',
    'The type of a deployment cannot be changed. Create a new deployment.',
  );
}

export function deploymentImmutable(): Refusal {
  return refuse(
    'DEPLOYMENT_IMMUTABLE',
    'A webhook cannot be changed. Create a replacement, switch the sender to it, then delete this webhook.',
  );
}

/** Backspace, tab, line feed, form feed and carriage return: JSON escapes them with one letter. */
const SHORT_ESCAPES = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);

// The text keeps a byte order mark.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The message to the agent: the body as text. A prefix and one blank line precede it when there is a prefix. */
export function agentInput(prefix: string | undefined, body: Uint8Array): string {
  const text = utf8.decode(body);
  return prefix === undefined ? text : `${prefix}\n\n${text}`;
}

/**
 * Length in bytes of a text as a JSON string, as `JSON.stringify` writes it: a NUL takes six bytes. Counting stops above
 * `limit`. The text has no lone surrogates.
 */
export function jsonLength(text: string, limit: number): number {
  let length = Buffer.byteLength(text) + 2;
  for (let at = 0; at < text.length && length <= limit; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x5c) length += 1;
    else if (code < 0x20) length += SHORT_ESCAPES.has(code) ? 1 : 5;
  }
  return length;
}

/** Refuses the condition of a request that names revisions: a webhook cannot be changed, so it has none. */
export function requireNoRevisions(ifRevisions: object | undefined): void {
  if (ifRevisions) throw refuse('INVALID_REQUEST', 'A webhook has no ETag. Remove the header If-Match.');
}
