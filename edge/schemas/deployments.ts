import { Type } from 'typebox';
import type { Deployment, Invocation } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { closed, count, id, NULL, nullable, optional, shownTime, text, time } from './common.ts';

export const DeploymentCreation = closed({
  type: Type.Enum(['webhook'], { description: 'A signed webhook.' }),
  prompt_prefix: optional(
    nullable(text('Stands before the payload, with one blank line between.', { maxLength: 65_536 })),
  ),
});

const members = {
  deployment_id: id('dep', 'the deployment, which is also the trigger'),
  agent_id: id('agt', 'the agent that handles every call'),
  agent_name: nullable(text('Its name; null when the agent is deleted.', { examples: ['Builder'] })),
  type: Type.Enum(['webhook']),
  authentication_type: Type.Enum(['hmac']),
  prompt_prefix: nullable(text('Stands before the payload.', { examples: ['A build has finished:'] })),
  status: Type.Enum(['enabled', 'disabled']),
  trigger_url: text('Where senders post to.', {
    examples: ['http://127.0.0.1:8080/api/v1/deployments/dep_01KAK3V9Q6W1X2Y3Z4A5B6C7D8/trigger'],
  }),
  created_by: id('usr', 'who created it, and in whose name sessions start'),
  created_at: time('When it was created.'),
  updated_at: time('When it was last enabled or disabled.'),
};

export const DeploymentShape = Type.Object(members, { title: 'Deployment' });

export const NewDeploymentShape = Type.Object(
  {
    ...members,
    shared_secret: nullable(
      text('The key of the HMAC. It stands in this one answer and nowhere else again.'),
    ),
  },
  { title: 'NewDeployment' },
);

export const InvocationShape = Type.Object(
  {
    invocation_id: id('inv', 'the call'),
    created_at: time('When it came.'),
    result: Type.Enum(['accepted', 'refused']),
    reason: nullable(text('Why it was refused, for example bad_signature or stale_timestamp.'), NULL),
    size: count('Bytes of its body.', 42),
    source_address: nullable(text('Where it came from.', { examples: ['127.0.0.1'] })),
    session_id: nullable(id('ses', 'the session that it started')),
    count: count(
      'How many calls this entry stands for: more than one where a flood of refusals was counted.',
    ),
  },
  { title: 'Invocation' },
);

export function shownDeployment(deployment: Deployment | undefined) {
  return {
    deployment_id: deployment?.deploymentId,
    agent_id: deployment?.agentId,
    agent_name: deployment?.agentName || null,
    type: deployment?.type,
    authentication_type: deployment?.authenticationType,
    prompt_prefix: deployment?.promptPrefix ?? null,
    status: deployment?.status,
    trigger_url: deployment?.triggerUrl,
    created_by: deployment?.createdBy,
    created_at: shownTime(deployment?.createdAt),
    updated_at: shownTime(deployment?.updatedAt),
  };
}

export function shownInvocation(invocation: Invocation) {
  return {
    invocation_id: invocation.invocationId,
    created_at: shownTime(invocation.createdAt),
    result: invocation.result,
    reason: invocation.reason || null,
    size: invocation.bodyBytes,
    source_address: invocation.sourceAddress || null,
    session_id: invocation.sessionId || null,
    count: invocation.count,
  };
}
