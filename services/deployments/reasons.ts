import { type Refusal, refuse } from '../../lib/errors.ts';
import { deploymentNotFound } from './domain.ts';
import type { SignatureFault } from './signature.ts';

/** The reason why an enabled webhook cannot start a session. */
export type Obstacle = 'agent_deleted' | 'agent_disabled' | 'environment_disabled' | 'owner_disabled';

/** The reason of a refusal in the invocation log, for the owner. The sender gets less detail. */
export type RefusalReason = 'disabled' | 'too_large' | SignatureFault | Obstacle;

/** The refusal that the sender gets. */
export function refusalOf(reason: RefusalReason): Refusal {
  switch (reason) {
    case 'disabled':
      return deploymentNotFound();
    case 'too_large':
      return refuse('PAYLOAD_TOO_LARGE', 'The request body is larger than the webhook accepts.');
    case 'agent_deleted':
    case 'agent_disabled':
    case 'environment_disabled':
    case 'owner_disabled':
      return refuse(
        'DEPLOYMENT_CANNOT_START',
        'The webhook cannot start a session: its agent, the environment of its agent or its owner is deleted or disabled.',
      );
    default:
      return refuse('DEPLOYMENT_UNAUTHORIZED', 'invalid webhook signature');
  }
}

/** Maps a refusal of another service; undefined when it is no obstacle. */
export function obstacleOf(refusal: Refusal): Obstacle | undefined {
  switch (refusal.code) {
    case 'AGENT_NOT_FOUND':
    case 'AGENT_VERSION_NOT_FOUND':
      return 'agent_deleted';
    case 'AGENT_NOT_RUNNABLE':
      return 'agent_disabled';
    case 'ENVIRONMENT_NOT_FOUND':
    case 'ENVIRONMENT_DISABLED':
      return 'environment_disabled';
    case 'USER_NOT_FOUND':
      return 'owner_disabled';
    default:
      return undefined;
  }
}
