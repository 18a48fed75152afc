import { createBackoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import { MAX_MESSAGE_BYTES } from '../../../lib/grpc/transport.ts';
import { type Ids, isId } from '../../../lib/ids.ts';
import type { TriggerRequest, TriggerResponse } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type {
  CreateSessionRequest,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission } from '../admission.ts';
import { deploymentNotFound } from '../domain/deployments.ts';
import { agentInput, jsonLength } from '../domain/webhooks.ts';
import { obstacleIn } from '../obstacles.ts';
import { type RefusalReason, refusalOf } from './reasons.ts';
import type { RefusalLog } from './refusals.ts';
import { findSignatureFault } from './signature.ts';
import type { Webhook, WebhookCache } from './webhook-cache.ts';

interface TriggerContext {
  webhooks: WebhookCache;
  admission: Admission;
  sessions: Client<SessionsServiceDefinition>;
  refusals: RefusalLog;
  clock: Clock;
  ids: Ids;
  windowSeconds: number;
  maxBodyBytes: number;
  /** Called once for each request, with its result. */
  count(result: TriggerResult): void;
}

/** The result of a request to a webhook, as in its metric: accepted, or the reason of the refusal. */
export type TriggerResult =
  | 'accepted'
  | 'not_found'
  | 'cancelled'
  | 'quota_exceeded'
  | 'unavailable'
  | RefusalReason;

/**
 * Longest text in bytes of JSON. The event with the text has to fit into one message between services, beside the other
 * members of the event.
 */
const MAX_TEXT_BYTES = MAX_MESSAGE_BYTES - 256 * 1024;
const MAX_RETRIES = 3;
/** The three delays cover the restart of a service (1 to 2 seconds in sum) while the sender waits. */
const RETRY = { firstMs: 300, maxMs: 1_200 };
/** Only so many requests wait for a retry at a time, so that retries add little load to an overloaded service. */
const MAX_WAITING = 1_000;

/**
 * Verifies a signed request and starts a session with its body. The order of the checks is part of the contract: without
 * the secret, a sender learns only whether the webhook exists and how long a body may be.
 */
export function createTrigger(context: TriggerContext) {
  const { webhooks, admission, sessions, refusals, clock, ids, windowSeconds, maxBodyBytes, count } = context;

  let waiting = 0;

  function findFault({ key }: Webhook, request: TriggerRequest): RefusalReason | undefined {
    if (!key) return 'disabled';
    if (request.oversize || request.body.length > maxBodyBytes) return 'too_large';
    return findSignatureFault(request, { key, now: clock.now(), windowSeconds });
  }

  /** Repeats `work` while a service that it needs is unavailable. */
  async function withRetries<Result>({ signal }: Call, work: () => Promise<Result>): Promise<Result> {
    const backoff = createBackoff(clock, RETRY);
    for (let retries = 0; retries < MAX_RETRIES; retries++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error;
        if (waiting >= MAX_WAITING) throw error;
        waiting++;
        await backoff.pause(signal);
        waiting--;
      }
    }
    return work();
  }

  /** Starts the session. A repeated request with the same invocation id starts no second session. */
  async function startSession(
    request: CreateSessionRequest,
    call: Call,
  ): Promise<TriggerResponse | RefusalReason> {
    try {
      const { sessionId } = await withRetries(call, () => sessions.createSession(request, call));
      return { deploymentId: request.deploymentId, sessionId };
    } catch (error) {
      return obstacleIn(error);
    }
  }

  async function accept(
    webhook: Webhook,
    request: TriggerRequest,
    call: Call,
  ): Promise<TriggerResponse | RefusalReason> {
    const reason = findFault(webhook, request);
    if (reason) return reason;
    const decision = await withRetries(call, () => admission.decideStart(webhook, call));
    if ('obstacle' in decision) return decision.obstacle;
    const { deploymentId, agentId, ownerId, promptPrefix } = webhook;
    const text = agentInput(promptPrefix, request.body);
    if (!fitsMessage(text)) return 'too_large';
    const invocation = {
      invocationId: ids('inv'),
      deploymentId,
      agentId,
      agentVersion: decision.agentVersion,
      ownerId,
      text,
      bodyBytes: request.body.length,
      sourceAddress: request.sourceAddress,
    };
    return startSession(invocation, call);
  }

  /** Requests to unknown webhooks, and while the database is unavailable, have no row in the invocation log. */
  async function findWebhook(deploymentId: string, call: Call): Promise<Webhook> {
    let webhook: Webhook | undefined;
    try {
      webhook = isId('dep', deploymentId) ? await webhooks.find(deploymentId, call) : undefined;
    } catch (error) {
      count(isServiceFailure(error) ? 'unavailable' : 'cancelled');
      throw error;
    }
    if (webhook) return webhook;
    count('not_found');
    throw deploymentNotFound();
  }

  return async (request: TriggerRequest, call: Call): Promise<TriggerResponse> => {
    const { deploymentId, sourceAddress } = request;
    const { requestId = '' } = call;
    const log = (reason: RefusalReason | 'quota_exceeded' | 'unavailable') => {
      count(reason);
      refusals.add({ deploymentId, reason, bodyBytes: request.body.length, sourceAddress, requestId });
    };
    const webhook = await findWebhook(deploymentId, call);
    let outcome: TriggerResponse | RefusalReason;
    try {
      outcome = await accept(webhook, request, call);
    } catch (error) {
      if (isQuotaExceeded(error)) log('quota_exceeded');
      else if (isServiceFailure(error)) log('unavailable');
      else count('cancelled');
      throw asSenderError(error);
    }
    if (typeof outcome === 'string') {
      log(outcome);
      throw refusalOf(outcome);
    }
    count('accepted');
    return outcome;
  };
}

/** A character takes at most six bytes of JSON, so only long texts are counted. */
function fitsMessage(text: string): boolean {
  return 6 * text.length + 2 <= MAX_TEXT_BYTES || jsonLength(text, MAX_TEXT_BYTES) <= MAX_TEXT_BYTES;
}

/** False when the sender closed the connection. */
function isServiceFailure(error: unknown): boolean {
  return !(error instanceof Refusal && error.code === 'CANCELLED');
}

/** The daily quota of the owner is used up. The response tells the sender when to try again. */
function isQuotaExceeded(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'QUOTA_EXCEEDED';
}

/** Passes on quota refusals and temporary failures. Refusals between services become INTERNAL. */
function asSenderError(error: unknown): unknown {
  if (isQuotaExceeded(error)) return error;
  if (error instanceof Refusal && ERRORS[error.code].status >= 499) return error;
  return refuse('INTERNAL', 'The session could not be started.', { cause: error });
}
