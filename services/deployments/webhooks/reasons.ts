import { type Refusal, refuse } from '../../../lib/errors.ts';
import { deploymentNotFound } from '../domain/deployments.ts';
import type { Obstacle } from '../obstacles.ts';
import type { SignatureFault } from './signature.ts';

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
