import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { isNotFound } from '../../../../api/client.ts';
import { deployments } from '../../../../api/deployments.ts';
import { invocations } from '../../../../api/invocations.ts';
import type { Invocation, Webhook } from '../../../../gen/index.ts';
import { useCurl } from '../../../../parts/curl/use-curl.ts';
import { ErrorState } from '../../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../../parts/errors/use-query-failure.ts';
import { ButtonLink, TextLink } from '../../../../parts/navigation/links.tsx';
import { Badge } from '../../../../ui/badge.tsx';
import { Button } from '../../../../ui/button.tsx';
import { Code } from '../../../../ui/code.tsx';
import { Card } from '../../../../ui/page.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { Time } from '../../../../ui/time.tsx';
import { useDeploymentActions } from '../../actions.tsx';
import { requests } from '../../requests.ts';
import { DeploymentStatus } from '../../status.tsx';
import { type ReplacementStep, ReplacementSteps } from './steps.tsx';

export interface ReplacementGuideProps {
  webhook: Webhook;
  /** The webhook to replace. */
  old: { agentId: string; deploymentId: string };
}

/** Guides the replacement of a webhook. The current step depends on which webhooks exist and receive requests. */
export function ReplacementGuide({ webhook, old }: ReplacementGuideProps) {
  const curlOf = useCurl();
  const [isDeleted, setDeleted] = useState(false);
  const oldWebhook = useQuery({ ...deployments.detail(old.agentId, old.deploymentId), enabled: !isDeleted });
  const replaced = oldWebhook.data?.type === 'webhook' ? oldWebhook.data : undefined;
  const failure = useQueryFailure(oldWebhook);
  const isOldDeleted = isDeleted || isNotFound(failure?.error ?? oldWebhook.error);
  const ownLog = useQuery(invocations.log(webhook.agent_id, webhook.deployment_id));
  const oldLog = useQuery({
    ...invocations.log(old.agentId, old.deploymentId),
    enabled: !isOldDeleted && oldWebhook.isSuccess,
  });
  const actions = useDeploymentActions(() => setDeleted(true));
  const accepted = ownLog.data?.entries.find(({ result }) => result === 'accepted');
  const step: ReplacementStep = isOldDeleted ? 'done' : accepted ? 'delete' : 'switch';
  const { agent_id: agentId, deployment_id: deploymentId } = webhook;

  return (
    <Card className="mb-5 border-accent p-4 sm:p-5">
      <h2 className="mb-3 font-semibold">Replacement</h2>
      <ReplacementSteps current={step} />
      {isOldDeleted ? (
        <div className="flex flex-wrap items-center gap-3">
          <p role="status" className="min-w-0 flex-1 basis-60">
            The old webhook is deleted. The replacement is complete.
          </p>
          <ButtonLink
            to="/deployments/$agentId/$deploymentId"
            params={{ agentId, deploymentId }}
            search={{}}
            replace
          >
            Finish
          </ButtonLink>
        </div>
      ) : replaced ? (
        <div className="flex flex-col gap-4">
          <p className="text-muted">
            Configure the new URL and the new secret in the sender. Both webhooks work until you delete the
            old one.
          </p>
          <dl className="grid gap-4 xl:grid-cols-2">
            <WebhookSide name="New URL" webhook={webhook}>
              {accepted ? (
                <AcceptedRequest call={accepted} />
              ) : (
                <Badge tone="accent" live>
                  Waiting for the first accepted request
                </Badge>
              )}
            </WebhookSide>
            <WebhookSide name="Old URL" webhook={replaced}>
              <LastRequest call={oldLog.data?.entries[0]} />
            </WebhookSide>
          </dl>
          <div className="flex flex-wrap items-center gap-2">
            <Button
              look={accepted ? 'danger' : 'secondary'}
              onClick={() =>
                actions.confirm({
                  kind: 'delete',
                  deployment: replaced,
                  warning: accepted ? undefined : 'The new webhook has not accepted a request yet.',
                })
              }
            >
              Delete old webhook
            </Button>
            {replaced.status === 'enabled' ? (
              <Button onClick={() => actions.confirm({ kind: 'disable', deployment: replaced })}>
                Disable old webhook first
              </Button>
            ) : (
              <Button busy={actions.isEnabling} onClick={() => actions.enable(replaced)}>
                Enable old webhook
              </Button>
            )}
          </div>
        </div>
      ) : failure ? (
        <ErrorState
          {...failure}
          curl={curlOf(requests.read({ agent_id: old.agentId, deployment_id: old.deploymentId }))}
        />
      ) : (
        <Skeleton lines={3} />
      )}
      {actions.dialog}
    </Card>
  );
}

/** URL and state of one of the two webhooks. */
function WebhookSide({ name, webhook, children }: { name: string; webhook: Webhook; children: ReactNode }) {
  return (
    <div className="min-w-0 rounded-lg border border-line p-3">
      <dt className="flex items-center gap-2 font-medium">
        {name}
        <DeploymentStatus status={webhook.status} />
      </dt>
      <dd className="mt-1 flex flex-col items-start gap-1.5">
        <Code text={webhook.trigger_url} label={name} wrap className="w-full" />
        <div>{children}</div>
      </dd>
    </div>
  );
}

function AcceptedRequest({ call }: { call: Invocation }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 text-good">
      <CircleCheck className="size-4" aria-hidden />
      Accepted a request <Time at={call.created_at} />
      {call.session_id && (
        <TextLink to="/sessions/$sessionId" params={{ sessionId: call.session_id }}>
          Open the session
        </TextLink>
      )}
    </span>
  );
}

function LastRequest({ call }: { call: Invocation | undefined }) {
  if (!call) return <span className="text-muted">No request yet</span>;
  return (
    <span className="text-muted">
      Last request <Time at={call.created_at} />
    </span>
  );
}
