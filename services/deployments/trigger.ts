import { type Clock, wait } from '../../lib/clock.ts';
import { ERRORS, Refusal, refuse } from '../../lib/errors.ts';
import type { Call, Client } from '../../lib/grpc/contract.ts';
import { type Ids, isId } from '../../lib/ids.ts';
import type { TriggerRequest, TriggerResponse } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import type {
  CreateSessionRequest,
  SessionsServiceDefinition,
} from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission, Webhook } from './admission.ts';
import { agentInput, deploymentNotFound } from './domain.ts';
import { obstacleOf, type Reason, refusalFor } from './reasons.ts';
import type { RefusalLog } from './refusals.ts';
import { signatureFault } from './signature.ts';

export interface TriggerContext {
  admission: Admission;
  sessions: Client<SessionsServiceDefinition>;
  refusals: RefusalLog;
  clock: Clock;
  ids: Ids;
  windowSeconds: number;
  maxBodyBytes: number;
}

/** A service behind this one may be restarting: long enough to find it again, short enough for a sender who waits. */
const RETRY_AFTER_MS = [200, 400, 800];

/**
 * Verifies a signed call and begins a session with it. The order of the checks is part of the contract: what a
 * sender without the secret can learn is whether the webhook is there and how long a body may be.
 */
export function createTrigger(context: TriggerContext) {
  const { admission, sessions, refusals, clock, ids, windowSeconds, maxBodyBytes } = context;

  function examine({ key }: Webhook, request: TriggerRequest): Reason | undefined {
    if (!key) return 'disabled';
    if (request.oversize || request.body.length > maxBodyBytes) return 'too_large';
    return signatureFault(request, { key, now: clock.now(), windowSeconds });
  }

  /** Tries again while what it needs cannot be reached. */
  async function patiently<Result>({ signal }: Call, work: () => Promise<Result>): Promise<Result> {
    for (const delayMs of RETRY_AFTER_MS) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error;
        await wait(clock, delayMs, signal);
      }
    }
    return work();
  }

  /** Begins the session, or says why it cannot. A second try with the same invocation begins no second session. */
  async function begin(request: CreateSessionRequest, call: Call): Promise<TriggerResponse | Reason> {
    try {
      const { sessionId } = await patiently(call, () => sessions.createSession(request, call));
      return { deploymentId: request.deploymentId, sessionId };
    } catch (error) {
      const obstacle = error instanceof Refusal ? obstacleOf(error) : undefined;
      if (!obstacle) throw error;
      return obstacle;
    }
  }

  async function accept(
    webhook: Webhook,
    request: TriggerRequest,
    call: Call,
  ): Promise<TriggerResponse | Reason> {
    const reason = examine(webhook, request);
    if (reason) return reason;
    const standing = await patiently(call, () => admission.standing(webhook, call));
    if ('obstacle' in standing) return standing.obstacle;
    const { deploymentId, agentId, ownerId, promptPrefix } = webhook;
    const text = agentInput(promptPrefix, request.body);
    const invocation = {
      invocationId: ids('inv'),
      deploymentId,
      agentId,
      agentVersion: standing.agentVersion,
      ownerId,
      text,
      bodyBytes: request.body.length,
      sourceAddress: request.sourceAddress,
    };
    return begin(invocation, call);
  }

  return async (request: TriggerRequest, call: Call): Promise<TriggerResponse> => {
    const { deploymentId, sourceAddress } = request;
    const webhook = isId('dep', deploymentId) ? await admission.webhook(deploymentId, call) : undefined;
    if (!webhook) throw deploymentNotFound();
    const note = (reason: Reason | 'quota_exceeded' | 'unavailable') =>
      refusals.note({ deploymentId, reason, bodyBytes: request.body.length, sourceAddress });
    let outcome: TriggerResponse | Reason;
    try {
      outcome = await accept(webhook, request, call);
    } catch (error) {
      if (isOverQuota(error)) note('quota_exceeded');
      else if (isOurs(error)) note('unavailable');
      throw forSender(error);
    }
    if (typeof outcome !== 'string') return outcome;
    note(outcome);
    throw refusalFor(outcome);
  };
}

/** A failure of this service or of one behind it, unlike a sender who has left. */
function isOurs(error: unknown): boolean {
  return !(error instanceof Refusal && error.code === 'CANCELLED');
}

/** The owner has begun as many turns today as they may: the sender is told when to come again. */
function isOverQuota(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'QUOTA_EXCEEDED';
}

/** What services refuse each other is no answer to the sender; what may pass, and what was left, is. */
function forSender(error: unknown): unknown {
  if (isOverQuota(error)) return error;
  if (error instanceof Refusal && ERRORS[error.code].status >= 499) return error;
  return refuse('INTERNAL', 'The session could not be started.', { cause: error });
}
