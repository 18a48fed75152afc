import { type Refusal, refuse } from '../../lib/errors.ts';
import { deploymentNotFound } from './domain.ts';
import type { SignatureFault } from './signature.ts';

/** Why a webhook that is enabled cannot begin a session now. */
export type Obstacle = 'agent_deleted' | 'agent_disabled' | 'environment_disabled' | 'owner_disabled';

/** Why a call is refused, as the owner reads it in the invocation log. The sender learns less. */
export type Reason = 'disabled' | 'too_large' | SignatureFault | Obstacle;

/** What the sender learns. */
export function refusalFor(reason: Reason): Refusal {
  switch (reason) {
    case 'disabled':
      return deploymentNotFound();
    case 'too_large':
      return refuse('PAYLOAD_TOO_LARGE', 'the request body is larger than this webhook accepts');
    case 'agent_deleted':
    case 'agent_disabled':
    case 'environment_disabled':
    case 'owner_disabled':
      return refuse(
        'DEPLOYMENT_CANNOT_START',
        'the webhook cannot start a session: its agent, the environment of its agent or its owner is deleted or disabled',
      );
    default:
      return refuse('DEPLOYMENT_UNAUTHORIZED', 'invalid webhook signature');
  }
}

/** The obstacle that a refusal of another service stands for. */
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
