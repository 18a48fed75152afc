import { type Refusal, refuse } from '../../../../lib/errors.ts';
import type { ConnectionMode, Provider } from './channel.ts';

export const CONNECTION_STATES = ['connected', 'connecting', 'failed', 'off'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** What a channel worker has to do at the product, and how far it is. */
export interface Connection {
  deploymentId: string;
  ownerId: string;
  provider: Provider;
  mode: ConnectionMode;
  wanted: 'connect' | 'remove' | 'nothing';
  /** The revision of the channel that the state belongs to. */
  revision: number;
  state: ConnectionState;
  /** When the state was entered. */
  since: Date;
  lastError: string | null;
  /** The worker that holds the lease. */
  holder: string | null;
  /** Incremented by each claim and by each change that ends the lease. */
  fence: number;
  leaseUntil: Date | null;
  /** When it can be claimed. Null: not before the channel is changed. */
  readyAt: Date | null;
  /** Offset or session of the product. */
  sealedResume: string | null;
  /** Only with `remove`: the credentials that registered the channel, and the end of the attempts. */
  sealedCredentials: string | null;
  removeUntil: Date | null;
}

export const CONNECTION_REPORTS = ['connected', 'connecting', 'failed', 'removed'] as const;

/** What a worker reports about a connection that it holds. */
export interface ConnectionReport {
  state: (typeof CONNECTION_REPORTS)[number];
  error: string;
  /** Undefined: unchanged. */
  sealedResume: string | undefined;
}

interface ChannelFacts {
  deploymentId: string;
  ownerId: string;
  provider: Provider;
  mode: ConnectionMode;
  revision: number;
  /** The credentials that the mode needs and that are not set. */
  missingCredentials: readonly string[];
}

/** The removal at the product is tried for this time. */
export const REMOVAL_MS = 24 * 60 * 60 * 1000;
const MAX_ERROR = 1_000;
/** Most channels are connected within this time after they have got a new bot. */
const NOT_READY_SECONDS = 5;

const NO_LEASE = { holder: null, leaseUntil: null } as const;
const NO_REMOVAL = { sealedCredentials: null, removeUntil: null } as const;

/** The connection of a channel that is new, enabled, or changed so that it must connect again. */
export function connectAgain(
  before: Connection | undefined,
  facts: ChannelFacts,
  keepsResume: boolean,
  now: Date,
): Connection {
  const { missingCredentials, ...members } = facts;
  return {
    ...members,
    ...start(facts, now),
    since: now,
    ...NO_LEASE,
    fence: nextFence(before),
    sealedResume: (keepsResume && before?.sealedResume) || null,
    ...NO_REMOVAL,
  };
}

function start({ mode, missingCredentials }: ChannelFacts, now: Date) {
  // The posts of the provider http are pulled, so no worker connects.
  if (mode === 'pull')
    return { wanted: 'nothing', state: 'connected', lastError: null, readyAt: null } as const;
  if (missingCredentials.length === 0)
    return { wanted: 'connect', state: 'connecting', lastError: null, readyAt: now } as const;
  const lastError = `Set the credentials that are missing: ${missingCredentials.join(', ')}.`;
  return { wanted: 'nothing', state: 'failed', lastError, readyAt: null } as const;
}

/** The connection of a channel that is disabled or deleted. `sealedCredentials` are those of the channel. */
export function disconnect(before: Connection, sealedCredentials: string, now: Date): Connection {
  if (before.wanted === 'remove') return before;
  const off = { ...before, state: 'off', since: now, lastError: null, ...NO_LEASE } as const;
  const ended = { ...off, fence: nextFence(before), sealedResume: null };
  if (before.wanted === 'nothing') return { ...ended, readyAt: null, ...NO_REMOVAL };
  const removeUntil = new Date(now.getTime() + REMOVAL_MS);
  return { ...ended, wanted: 'remove', readyAt: now, sealedCredentials, removeUntil };
}

/** The connection after a change of the channel that its worker does not have to know. */
export function atRevision(before: Connection, revision: number): Connection {
  return { ...before, revision };
}

/** Returns the connection of a worker. Refuses an older fence with LEASE_LOST. */
export function requireLease(connection: Connection | undefined, fence: number): Connection {
  if (connection && connection.fence === fence && connection.holder !== null) return connection;
  throw refuse('LEASE_LOST', 'Another worker holds the connection, or the channel was changed.');
}

/** Refuses events that cannot be compared with the bot of the channel, because no worker has reported it yet. */
export function channelNotReady(): Refusal {
  return refuse('CHANNEL_NOT_READY', 'The channel is not connected with its product yet.', {
    retryAfterSeconds: NOT_READY_SECONDS,
  });
}

/** A worker that cannot connect keeps its lease and tries again, with delays of its own. */
export function applyReport(before: Connection, report: ConnectionReport, now: Date): Connection {
  const lastError = errorText(report.error);
  if (before.wanted === 'remove') {
    const isEnded = report.state === 'removed' || report.state === 'failed';
    return isEnded ? removalEnded(before) : { ...before, lastError };
  }
  const reported = { ...before, lastError, sealedResume: report.sealedResume ?? before.sealedResume };
  switch (report.state) {
    case 'connected': {
      // A registered webhook needs no worker any more.
      const lease = before.mode === 'http' ? { ...NO_LEASE, readyAt: null } : {};
      return { ...reported, ...inState(before, 'connected', now), ...lease };
    }
    case 'failed':
      return {
        ...{ ...reported, ...inState(before, 'failed', now), ...NO_LEASE, readyAt: null },
        lastError: lastError ?? 'The product refused the connection.',
      };
    default:
      return { ...reported, ...inState(before, 'connecting', now) };
  }
}

/** Nothing is left to do at the product, or it cannot be done. */
export function removalEnded(before: Connection): Connection {
  return {
    ...{ ...before, ...NO_LEASE, ...NO_REMOVAL },
    ...{ wanted: 'nothing', readyAt: null, lastError: null },
  };
}

/** The state that is shown. A worker that was killed does not report the end of its connection. */
export function shownState(
  { state, mode, leaseUntil }: Pick<Connection, 'state' | 'mode' | 'leaseUntil'>,
  now: Date,
): ConnectionState {
  const needsWorker = mode !== 'http' && mode !== 'pull';
  const isHeld = leaseUntil !== null && leaseUntil.getTime() > now.getTime();
  return state === 'connected' && needsWorker && !isHeld ? 'connecting' : state;
}

function inState(before: Connection, state: ConnectionState, now: Date) {
  return { state, since: before.state === state ? before.since : now };
}

function nextFence(before: Connection | undefined): number {
  return (before?.fence ?? 0) + 1;
}

function errorText(text: string): string | null {
  return text === '' ? null : text.slice(0, MAX_ERROR);
}
