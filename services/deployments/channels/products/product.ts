import type { ChannelIdentity, InboundEvent } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { CallbackHeader } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { PlaceMove } from '../../domain/channels/moved-places.ts';

/** A callback as received. */
export interface CallbackRequest {
  /** All headers in order, with lowercase names. */
  headers: readonly CallbackHeader[];
  body: Uint8Array;
}

export interface CallbackAnswer {
  status: number;
  /** Empty for an empty body. */
  contentType: string;
  body: string;
}

/** The stored delivery of a callback. */
export interface StoredEvent {
  deliveryId: string;
  /** Null until the session exists. */
  sessionId: string | null;
  isDuplicate: boolean;
}

/** Returns why the request is not authentic, as in the list of deliveries; undefined for an authentic one. */
export type Verifier = (request: CallbackRequest, now: Date) => string | undefined;

export type ParsedEvent =
  | { outcome: 'event'; event: InboundEvent }
  /**
   * Not for the agent. `event` has its sender and place, if they are known. `move`: a place has got another id.
   * `deletedMessage`: the message that the event is about. The deletion of a post is not listed.
   */
  | { outcome: 'ignored'; reason: string; event?: InboundEvent; move?: PlaceMove; deletedMessage?: string }
  /** Of another app or workspace, although it is signed. */
  | { outcome: 'refused'; reason: 'app_mismatch' | 'team_mismatch' };

/**
 * The inbound side of a messaging product. All functions are pure. `decode` returns a callback in the form that the worker
 * sends with AcceptEvents, so that `parse` and the tests of both transports are the same.
 */
export interface Product {
  readonly maxBodyBytes: number;
  /** `credentials` are those of the channel, by name. */
  createVerifier(credentials: Readonly<Record<string, string>>): Verifier;
  /** Undefined: the body has not the form of the product. */
  decode(request: CallbackRequest): unknown;
  /** Whether a callback is a check of its URL, which is answered and not stored. It names no app, so it needs no identity. */
  isCheck(event: unknown): boolean;
  /** Throws INVALID_REQUEST only for http. */
  parse(event: unknown, identity: ChannelIdentity): ParsedEvent;
  /** The answer to an authentic callback. `stored` is undefined for events that are not stored. */
  answer(event: unknown, stored: StoredEvent | undefined): CallbackAnswer;
}

export const ignored = (reason: string, event?: InboundEvent): ParsedEvent =>
  event ? { outcome: 'ignored', reason, event } : { outcome: 'ignored', reason };

export const accepted = (event: InboundEvent): ParsedEvent => ({ outcome: 'event', event });

export const EMPTY_OK: CallbackAnswer = { status: 200, contentType: '', body: '' };

export const jsonAnswer = (status: number, value: unknown): CallbackAnswer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
