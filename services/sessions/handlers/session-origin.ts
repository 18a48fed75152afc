import { refuseField } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { CreateSessionRequest, DeploymentActor } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { NewSession } from '../domain/create.ts';
import { deploymentActor, idsOfCause } from './actor.ts';

/** The parts of a deployment's session that depend on the type of the deployment. */
type SessionOrigin = Pick<NewSession, 'sessionId' | 'source' | 'actor' | 'deploymentId' | 'hasSignals'> &
  Partial<Pick<NewSession, 'turnId' | 'invocationId' | 'bodyBytes' | 'sourceAddress'>>;

/** The turn id is undefined unless it follows from the request. */
export function originOf(request: CreateSessionRequest, call: Call): SessionOrigin {
  if (request.actor) return originOfCause(request, request.actor, call);
  if (call.peer === 'channels') throw refuseField('/actor', 'is required');
  return originOfInvocation(request);
}

function originOfInvocation(request: CreateSessionRequest): SessionOrigin {
  const { invocationId, deploymentId, bodyBytes, sourceAddress } = request;
  return {
    sessionId: withPrefix('ses', invocationId),
    source: 'webhook',
    actor: { type: 'trigger', id: deploymentId },
    ...{ deploymentId, invocationId, bodyBytes, sourceAddress },
  };
}

/** Has no `bodyBytes`: the log of invocations lists only sessions that have them. */
function originOfCause(
  { invocationId, deploymentId }: CreateSessionRequest,
  deployment: DeploymentActor,
  call: Call,
): SessionOrigin {
  const actor = deploymentActor(deployment, call);
  if (invocationId !== '') throw refuseField('/invocation_id', 'must be empty with an actor');
  if (deploymentId !== '' && deploymentId !== actor.id)
    throw refuseField('/deployment_id', 'must be the one of the actor');
  return {
    ...idsOfCause(deployment),
    source: actor.type,
    actor,
    deploymentId: actor.id,
    hasSignals: true,
  };
}
