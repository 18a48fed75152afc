import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { Ask, Lease, Outcome } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LentCredential, LentCredentials } from '../credentials/lent-credentials.ts';
import { type ModelFailure, refusedModelKey } from '../models/failure.ts';
import type { ModelKeyUsers } from '../models/model-key-users.ts';
import type { Model } from '../models/registry.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { failureOutcome, retryDependency } from './outcome.ts';

export interface ModelKeyOptions {
  modelKeyUsers: Pick<ModelKeyUsers, 'mayHaveKey'>;
  credentials: Pick<LentCredentials, 'lendFor' | 'refusedFor'>;
  log: Log;
}

/** How a turn requests its model. */
export type ModelAccess =
  | { kind: 'operator_key'; model: Model }
  | { kind: 'agent_key'; model: Model; lent: LentCredential }
  /** The turn ends or is retried, because the key of its agent cannot be used. */
  | { kind: 'ended'; outcome: Outcome };

/**
 * Returns the model with the key of the agent, or with the operator's key if the agent has none for the provider. A key that
 * is refused or cannot be opened is never replaced by the operator's. While keys are not available the turn is retried, and
 * blocks with an authorization when its retries are spent.
 */
export async function openModel(
  turn: LeasedTurn,
  model: Model,
  options: ModelKeyOptions,
): Promise<ModelAccess> {
  try {
    return await accessOf(turn, model, options);
  } catch (error) {
    const isTemporary =
      error instanceof Refusal && (ERRORS[error.code].retryable || error.code === 'INTERNAL');
    if (!isTemporary) throw error;
    const { provider } = model;
    options.log.warn(
      { ...turn.logFields, provider, err: error },
      'a model key cannot be lent now; the turn will be retried',
    );
    return { kind: 'ended', outcome: retryDependency([modelKeyAsk(provider, 'unavailable')]) };
  }
}

async function accessOf(
  turn: LeasedTurn,
  model: Model,
  { modelKeyUsers, credentials }: ModelKeyOptions,
): Promise<ModelAccess> {
  const { provider, withKey } = model;
  const { agentId } = turn.claimed;
  const operated: ModelAccess = { kind: 'operator_key', model };
  if (!withKey || !(await modelKeyUsers.mayHaveKey(agentId, provider, turn.span.trace))) return operated;
  const lending = await credentials.lendFor(leaseOf(turn), needOf(provider));
  if (lending.kind === 'lent') return withLentKey(model, withKey, lending.lent);
  const { reason } = lending.missing;
  if (ABSENT.has(reason)) return operated;
  const outcome =
    reason === 'refused'
      ? failureOutcome(refusedModelKey(undefined))
      : retryDependency([modelKeyAsk(provider, reason)]);
  return { kind: 'ended', outcome };
}

/** The request for a model key. It belongs to the turn, because a model request is no tool call. */
function modelKeyAsk(provider: string, reason: string): Ask {
  const details = { model_provider: provider, name: provider, reason, who: 'administrator' };
  return {
    kind: 'authorization',
    toolUseId: '',
    toolName: '',
    inputJson: '',
    detailsJson: JSON.stringify(details),
  };
}

type AgentKeyAccess = Extract<ModelAccess, { kind: 'agent_key' }>;

const UNAUTHORIZED = 401;

/**
 * Reports the refusal of an agent's key. Without the report, the key is used again. Returns the access with the key that has
 * replaced the refused one before it was reported; undefined without one. Rejects only with LEASE_LOST.
 */
export async function reportRefusedKey(
  turn: LeasedTurn,
  { model, lent }: AgentKeyAccess,
  { refusedStatus: httpStatus }: ModelFailure,
  { credentials, log }: ModelKeyOptions,
): Promise<AgentKeyAccess | undefined> {
  const { withKey } = model;
  if (httpStatus === undefined || !withKey) return undefined;
  try {
    const refusal = { httpStatus, challenge: '' };
    const lending = await credentials.refusedFor(leaseOf(turn), needOf(model.provider), lent, refusal);
    // Another key can lack the same model, which a 403 can mean.
    const isReplaced = lending.kind === 'lent' && httpStatus === UNAUTHORIZED;
    return isReplaced ? withLentKey(model, withKey, lending.lent) : undefined;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'LEASE_LOST') throw error;
    const fields = { ...turn.logFields, credential_id: lent.credentialId, err: error };
    log.warn(fields, 'a refused model key could not be reported');
    return undefined;
  }
}

function withLentKey(
  model: Model,
  withKey: NonNullable<Model['withKey']>,
  lent: LentCredential,
): AgentKeyAccess {
  const { value } = lent;
  if (!value) throw new Error('a lent model key has no value');
  return { kind: 'agent_key', model: { ...model, languageModel: withKey(value) }, lent };
}

function leaseOf({ claimed, span }: LeasedTurn): { lease: Lease; trace: Trace } {
  const { sessionId, turnId, fence } = claimed;
  return { lease: { sessionId, turnId, fence }, trace: span.trace };
}

function needOf(provider: string) {
  return { $case: 'modelProvider' as const, value: provider };
}

/** The reasons for which the agent has no model key. */
const ABSENT: ReadonlySet<string> = new Set(['none', 'disabled']);
