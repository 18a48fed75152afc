import type { Call, Client } from '../../lib/grpc/contract.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ReadAccepted } from './store/refusals.ts';

/** The accepted half of a deployment's invocation log: the sessions it began. */
export function acceptedBy(
  sessions: Client<SessionsServiceDefinition>,
  deploymentId: string,
  call: Call,
): ReadAccepted {
  return async (beforeInvocationId, limit) => {
    const answer = await sessions.listDeploymentSessions({ deploymentId, beforeInvocationId, limit }, call);
    return answer.sessions.map(({ invocationId, sessionId, createdAt, bodyBytes, sourceAddress }) => ({
      invocationId,
      createdAt,
      result: 'accepted',
      reason: '',
      bodyBytes,
      sourceAddress,
      sessionId,
      count: 1,
    }));
  };
}
