import { Type } from 'typebox';
import type { Deployment, Invocation } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { closed, count, id, NULL, nullable, optional, serializeTime, text, time } from '../common.ts';

export const WebhookCreationBody = closed(
  {
    type: Type.Literal('webhook'),
    prompt_prefix: optional(
      nullable(
        text('Text that is inserted before the payload, separated by one blank line.', { maxLength: 65_536 }),
      ),
    ),
  },
  { title: 'NewWebhook' },
);

/** The members of deployments of every type. */
export const deploymentMembers = {
  deployment_id: id('dep', 'the deployment'),
  agent_id: id('agt', 'the agent whose sessions the deployment starts'),
  agent_name: nullable(
    text('The name of the agent; null when the agent is deleted.', { examples: ['Builder'] }),
  ),
  status: Type.Enum(['enabled', 'disabled']),
  created_by: id('usr', 'the user who created the deployment and owns its sessions'),
  created_at: time('The creation time.'),
};

const members = {
  ...deploymentMembers,
  type: Type.Literal('webhook'),
  authentication_type: Type.Enum(['hmac']),
  prompt_prefix: nullable(
    text('Text that is inserted before the payload.', { examples: ['A build has finished:'] }),
  ),
  trigger_url: text('The URL to which senders post.', {
    examples: ['http://127.0.0.1:8080/api/v1/deployments/dep_01KAK3V9Q6W1X2Y3Z4A5B6C7D8/trigger'],
  }),
  updated_at: time('The time at which it was last enabled or disabled.'),
};

export const WebhookShape = Type.Object(members, { title: 'Webhook' });

export const CreatedWebhookShape = Type.Object(
  {
    ...members,
    shared_secret: nullable(text('The key of the HMAC. It is returned only once, in this response.')),
  },
  { title: 'CreatedWebhook' },
);

export const InvocationShape = Type.Object(
  {
    invocation_id: id('inv', 'the invocation'),
    created_at: time('The time of the request.'),
    result: Type.Enum(['accepted', 'refused']),
    reason: nullable(
      text('The reason of a refusal, for example `bad_signature` or `stale_timestamp`.'),
      NULL,
    ),
    size: count('The size of the body in bytes.', 42),
    source_address: nullable(text('The IP address of the sender.', { examples: ['127.0.0.1'] })),
    session_id: nullable(id('ses', 'the session that the invocation started')),
    request_id: nullable(
      id('req', 'the HTTP request, as in its `X-Request-Id` header and in log lines'),
      NULL,
    ),
    count: count('The number of requests that this entry represents. Frequent refusals share one entry.'),
  },
  { title: 'Invocation' },
);

export function serializeWebhook(deployment: Deployment) {
  return {
    deployment_id: deployment.deploymentId,
    agent_id: deployment.agentId,
    agent_name: deployment.agentName || null,
    type: deployment.type,
    authentication_type: deployment.authenticationType,
    prompt_prefix: deployment.promptPrefix ?? null,
    status: deployment.status,
    trigger_url: deployment.triggerUrl,
    created_by: deployment.createdBy,
    created_at: serializeTime(deployment.createdAt),
    updated_at: serializeTime(deployment.updatedAt),
  };
}

export function serializeInvocation(invocation: Invocation) {
  return {
    invocation_id: invocation.invocationId,
    created_at: serializeTime(invocation.createdAt),
    result: invocation.result,
    reason: invocation.reason || null,
    size: invocation.bodyBytes,
    source_address: invocation.sourceAddress || null,
    session_id: invocation.sessionId || null,
    request_id: invocation.requestId || null,
    count: invocation.count,
  };
}
