import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/events.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { isId, withPrefix } from '../../../lib/ids.ts';
import type { DeploymentActor } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** Services that act for deployments. */
const DEPLOYMENT_PEERS: readonly string[] = ['deployments'];

/** Returns the calling user as the actor of an event. */
export function actorOf(call: Call): Actor {
  return { type: 'user', id: callerOf(call).userId };
}

/**
 * Returns the actor of a call that a user or a deployment makes. A service that acts for deployments must name the
 * deployment (INVALID_REQUEST), and others must not (FORBIDDEN).
 */
export function userOrDeployment(deployment: DeploymentActor | undefined, call: Call): Actor {
  const isDeployment = DEPLOYMENT_PEERS.includes(call.peer);
  if (!deployment) {
    if (isDeployment) throw refuseField('/actor', 'is required');
    return actorOf(call);
  }
  if (!isDeployment) throw refuse('FORBIDDEN', `The service ${call.peer} may not act for a deployment.`);
  return deploymentActor(deployment);
}

export function deploymentActor({ type, deploymentId }: DeploymentActor): Actor {
  if (type !== 'schedule') throw refuseField('/actor/type', 'must be schedule');
  if (!isId('dep', deploymentId)) throw refuseField('/actor/deployment_id', 'must be a dep_… id');
  return { type, id: deploymentId };
}

/** Returns the ids of the session and of the turn of a run. They have the 26 characters of the run's id. */
export function idsOfRun({ runId }: DeploymentActor): { sessionId: string; turnId: string } {
  if (!isId('run', runId)) throw refuseField('/actor/run_id', 'must be a run_… id');
  return { sessionId: withPrefix('ses', runId), turnId: withPrefix('trn', runId) };
}
