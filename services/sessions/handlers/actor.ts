import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { type IdPrefix, isId, withPrefix } from '../../../lib/ids.ts';
import type { DeploymentActor } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

type DeploymentType = 'schedule' | 'channel';

/** The types of the deployments for which a service acts. Other services act for users alone. */
const DEPLOYMENT_TYPES: Readonly<Record<string, readonly DeploymentType[]>> = {
  deployments: ['schedule', 'channel'],
  channels: ['channel'],
};

/**
 * Returns the caller as the actor of an event: the user, or for requests of a protocol the personal access token, so that
 * the journal tells which client has acted.
 */
export function actorOf(call: Call): Actor {
  const { userId, protocol, credential } = callerOf(call);
  if (protocol === undefined) return { type: 'user', id: userId };
  return { type: protocol, id: credential?.startsWith('tok_') ? credential : userId };
}

/**
 * Returns the actor of a call that a user or a deployment makes. A service that acts for deployments must name the
 * deployment (INVALID_REQUEST), and others must not (FORBIDDEN).
 */
export function userOrDeployment(deployment: DeploymentActor | undefined, call: Call): Actor {
  if (deployment) return deploymentActor(deployment, call);
  if (Object.hasOwn(DEPLOYMENT_TYPES, call.peer)) throw refuseField('/actor', 'is required');
  return actorOf(call);
}

export function deploymentActor(
  { type: given, deploymentId }: DeploymentActor,
  { peer }: Call,
): Actor & { type: DeploymentType } {
  const types = Object.hasOwn(DEPLOYMENT_TYPES, peer) ? DEPLOYMENT_TYPES[peer] : undefined;
  if (!types) throw refuse('FORBIDDEN', `The service ${peer} may not act for a deployment.`);
  const type = types.find((one) => one === given);
  if (!type) throw refuseField('/actor/type', `must be ${types.join(' or ')}`);
  if (!isId('dep', deploymentId)) throw refuseField('/actor/deployment_id', 'must be a dep_… id');
  return { type, id: deploymentId };
}

/** Returns the ids of the session and of the turn of a run or a delivery. They have the 26 characters of its id. */
export function idsOfCause(actor: DeploymentActor): { sessionId: string; turnId: string } {
  const cause = causeOf(actor);
  return { sessionId: withPrefix('ses', cause), turnId: withPrefix('trn', cause) };
}

/** Returns the id of the run or the delivery. The type of the actor has been checked. */
export function causeOf({ type, runId, deliveryId = '' }: DeploymentActor): string {
  return type === 'channel' ? checked('dlv', deliveryId, 'delivery_id') : checked('run', runId, 'run_id');
}

function checked(prefix: IdPrefix, id: string, member: string): string {
  if (!isId(prefix, id)) throw refuseField(`/actor/${member}`, `must be a ${prefix}_… id`);
  return id;
}
