import { type Refusal, refuse, refuseField } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { isStorable } from '../../lib/text.ts';

export type Status = 'enabled' | 'disabled';

/** A webhook. Only its status can change. */
export interface Deployment {
  deploymentId: string;
  /** usr_…: the owner of the sessions that it starts. */
  createdBy: string;
  agentId: string;
  type: 'webhook';
  status: Status;
  /** Never empty. */
  promptPrefix: string | undefined;
  createdAt: Date;
  updatedAt: Date;
}

/** Identifies a deployment. With an agent id, it matches only a deployment of that agent; empty: of any agent. */
export interface DeploymentAddress {
  agentId: string;
  deploymentId: string;
}

/** A row of the invocation log: one accepted request, or one or more refused requests. */
export interface Invocation {
  invocationId: string;
  createdAt: Date | undefined;
  result: 'accepted' | 'refused';
  reason: string;
  bodyBytes: number;
  sourceAddress: string;
  sessionId: string;
  count: number;
  /** req_…; empty for a row of an older release. */
  requestId: string;
}

/** A row of refused requests that has not been written yet. */
export interface RefusalRow {
  deploymentId: string;
  invocationId: string;
  /** The invocation id; or minute and reason when the row stands for several requests. */
  slot: string;
  reason: string;
  count: number;
  /** Body size, address and request id are those of the first request of the row. */
  bodyBytes: number;
  sourceAddress: string;
  requestId: string;
  createdAt: Date;
}

const PREFIX_BYTES = 64 * 1024;

/** The only trigger type is `webhook`. */
export function checkWebhookType(type: string): 'webhook' {
  if (type !== 'webhook') throw refuseField('/type', 'must be webhook');
  return type;
}

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

const FIRST_PAGE = { limit: 50, cursor: '' };

/** Default: the first page. */
export function checkedPage(page: { limit: number; cursor: string } | undefined) {
  if (page && (page.limit < 1 || page.limit > 100)) throw refuseField('/limit', 'must be from 1 to 100');
  return page ?? FIRST_PAGE;
}

/** Whether the ids are well-formed. Malformed ids are not looked up. */
export function isValidAddress({ agentId, deploymentId }: DeploymentAddress): boolean {
  return isId('dep', deploymentId) && (agentId === '' || isId('agt', agentId));
}

/** The sender of a webhook gets the same refusal for unknown, deleted and disabled deployments. */
export function deploymentNotFound(): Refusal {
  return refuse('DEPLOYMENT_NOT_FOUND', 'Unknown deployment.');
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

/** Merges accepted and refused invocations, each newest first. */
export function mergeNewestFirst(accepted: Invocation[], refused: Invocation[]): Invocation[] {
  return [...accepted, ...refused].sort((a, b) => (a.invocationId < b.invocationId ? 1 : -1));
}
