import { type Refusal, refuse, refuseField } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { isStorable } from '../../lib/text.ts';

export type Status = 'enabled' | 'disabled';

/** A webhook. Only its status ever changes. */
export interface Deployment {
  deploymentId: string;
  /** usr_…: whose sessions it begins. */
  createdBy: string;
  agentId: string;
  type: 'webhook';
  status: Status;
  /** Never empty. */
  promptPrefix: string | undefined;
  createdAt: Date;
  updatedAt: Date;
}

/** How one deployment is asked for: of which agent (empty: of any), which. */
export interface Address {
  agentId: string;
  deploymentId: string;
}

/** One accepted call, or refused ones, in the invocation log. */
export interface Invocation {
  invocationId: string;
  createdAt: Date | undefined;
  result: 'accepted' | 'refused';
  reason: string;
  bodyBytes: number;
  sourceAddress: string;
  sessionId: string;
  count: number;
}

/** A row of refused calls on its way into the log. */
export interface RefusalRow {
  deploymentId: string;
  invocationId: string;
  /** The invocation id; or, of a row that stands for many calls, their minute and reason. */
  slot: string;
  reason: string;
  count: number;
  /** Of the first call that the row stands for; so is the address. */
  bodyBytes: number;
  sourceAddress: string;
  createdAt: Date;
}

const PREFIX_BYTES = 64 * 1024;

/** The one type there is. */
export function webhookType(type: string): 'webhook' {
  if (type !== 'webhook') throw refuseField('/type', 'must be webhook');
  return type;
}

/** An empty prefix is none. */
export function promptPrefix(text: string | undefined): string | undefined {
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

/** The page that is asked for; the first one when none is. */
export function checkedPage(page: { limit: number; cursor: string } | undefined) {
  if (page && (page.limit < 1 || page.limit > 100)) throw refuseField('/limit', 'must be from 1 to 100');
  return page ?? FIRST_PAGE;
}

/** Whether the ids of an address could be ids at all; what could not is not looked for. */
export function isAddress({ agentId, deploymentId }: Address): boolean {
  return isId('dep', deploymentId) && (agentId === '' || isId('agt', agentId));
}

/** To those who trigger: the same for unknown, deleted and disabled ones. */
export function deploymentNotFound(): Refusal {
  return refuse('DEPLOYMENT_NOT_FOUND', 'there is no such deployment');
}

export function deploymentImmutable(): Refusal {
  return refuse(
    'DEPLOYMENT_IMMUTABLE',
    'a webhook cannot be changed; create a replacement, switch the sender to it, then delete this one',
  );
}

// A byte order mark is part of what was sent.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** What the agent is handed: the body as text, after the prefix and one blank line when there is a prefix. */
export function agentInput(prefix: string | undefined, body: Uint8Array): string {
  const text = utf8.decode(body);
  return prefix === undefined ? text : `${prefix}\n\n${text}`;
}

/** Joins two halves of an invocation log, each newest first, into one. */
export function newestFirst(accepted: Invocation[], refused: Invocation[]): Invocation[] {
  return [...accepted, ...refused].sort((a, b) => (a.invocationId < b.invocationId ? 1 : -1));
}
