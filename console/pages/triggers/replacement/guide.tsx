import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { isNotFound } from '../../../api/client.ts';
import { invocations } from '../../../api/invocations.ts';
import { triggers } from '../../../api/triggers.ts';
import type { Deployment, Invocation } from '../../../gen/index.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { ButtonLink, TextLink } from '../../../parts/navigation/links.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Card } from '../../../ui/page.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { useTriggerActions } from '../actions.tsx';
import { requests } from '../requests.ts';
import { TriggerStatus } from '../status.tsx';
import { type ReplacementStep, ReplacementSteps } from './steps.tsx';

export interface ReplacementGuideProps {
  trigger: Deployment;
  /** The trigger to replace. */
  old: { agentId: string; deploymentId: string };
}

/** Guides the replacement of a trigger. The current step depends on which triggers exist and receive requests. */
export function ReplacementGuide({ trigger, old }: ReplacementGuideProps) {
  const curlOf = useCurl();
  const [isDeleted, setDeleted] = useState(false);
  const oldTrigger = useQuery({ ...triggers.detail(old.agentId, old.deploymentId), enabled: !isDeleted });
  const failure = useQueryFailure(oldTrigger);
  const isOldDeleted = isDeleted || isNotFound(failure?.error ?? oldTrigger.error);
  const ownLog = useQuery(invocations.log(trigger.agent_id, trigger.deployment_id));
  const oldLog = useQuery({
    ...invocations.log(old.agentId, old.deploymentId),
    enabled: !isOldDeleted && oldTrigger.isSuccess,
  });
  const actions = useTriggerActions(() => setDeleted(true));
  const accepted = ownLog.data?.entries.find(({ result }) => result === 'accepted');
  const step: ReplacementStep = isOldDeleted ? 'done' : accepted ? 'delete' : 'switch';
  const { agent_id: agentId, deployment_id: deploymentId } = trigger;

  return (
    <Card className="mb-5 border-accent p-4 sm:p-5">
      <h2 className="mb-3 font-semibold">Replacement</h2>
      <ReplacementSteps current={step} />
      {isOldDeleted ? (
        <div className="flex flex-wrap items-center gap-3">
          <p role="status" className="min-w-0 flex-1 basis-60">
            The old trigger is deleted. The replacement is complete.
          </p>
          <ButtonLink
            to="/triggers/$agentId/$deploymentId"
            params={{ agentId, deploymentId }}
            search={{}}
            replace
          >
            Finish
          </ButtonLink>
        </div>
      ) : oldTrigger.data ? (
        <div className="flex flex-col gap-4">
          <p className="text-muted">
            Configure the new URL and the new secret in the sender. Both triggers work until you delete the
            old one.
          </p>
          <dl className="grid gap-4 xl:grid-cols-2">
            <TriggerSide name="New URL" trigger={trigger}>
              {accepted ? (
                <AcceptedRequest call={accepted} />
              ) : (
                <Badge tone="accent" live>
                  Waiting for the first accepted request
                </Badge>
              )}
            </TriggerSide>
            <TriggerSide name="Old URL" trigger={oldTrigger.data}>
              <LastRequest call={oldLog.data?.entries[0]} />
            </TriggerSide>
          </dl>
          <div className="flex flex-wrap items-center gap-2">
            <Button
              look={accepted ? 'danger' : 'secondary'}
              onClick={() =>
                actions.confirm({
                  kind: 'delete',
                  trigger: oldTrigger.data,
                  warning: accepted ? undefined : 'The new trigger has not accepted a request yet.',
                })
              }
            >
              Delete old trigger
            </Button>
            {oldTrigger.data.status === 'enabled' ? (
              <Button onClick={() => actions.confirm({ kind: 'disable', trigger: oldTrigger.data })}>
                Disable old trigger first
              </Button>
            ) : (
              <Button busy={actions.isEnabling} onClick={() => actions.enable(oldTrigger.data)}>
                Enable old trigger
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

/** URL and state of one of the two triggers. */
function TriggerSide({
  name,
  trigger,
  children,
}: {
  name: string;
  trigger: Deployment;
  children: ReactNode;
}) {
  return (
    <div className="min-w-0 rounded-lg border border-line p-3">
      <dt className="flex items-center gap-2 font-medium">
        {name}
        <TriggerStatus status={trigger.status} />
      </dt>
      <dd className="mt-1 flex flex-col items-start gap-1.5">
        <Code text={trigger.trigger_url} label={name} wrap className="w-full" />
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
