import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { isMissing } from '../../../api/client.ts';
import { invocations } from '../../../api/invocations.ts';
import { triggers } from '../../../api/triggers.ts';
import type { Deployment, Invocation } from '../../../gen/index.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { Failure } from '../../../parts/faults/failure.tsx';
import { useFailure } from '../../../parts/faults/use-failure.ts';
import { ButtonLink, TextLink } from '../../../parts/links.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Card } from '../../../ui/page.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { useTriggerActions } from '../actions.tsx';
import { requests } from '../requests.ts';
import { TriggerStatus } from '../status.tsx';
import { type Step, Steps } from './steps.tsx';

export interface GuideProps {
  trigger: Deployment;
  /** Of the trigger that is replaced. */
  old: { agentId: string; deploymentId: string };
}

/** Leads from the old trigger to the new one. How far it has come follows from which of them are there and are called. */
export function ReplacementGuide({ trigger, old }: GuideProps) {
  const curlOf = useCurl();
  const [isDeleted, setDeleted] = useState(false);
  const oldOne = useQuery({ ...triggers.one(old.agentId, old.deploymentId), enabled: !isDeleted });
  const failure = useFailure(oldOne);
  const isGone = isDeleted || isMissing(failure?.error ?? oldOne.error);
  const ownLog = useQuery(invocations.log(trigger.agent_id, trigger.deployment_id));
  const oldLog = useQuery({
    ...invocations.log(old.agentId, old.deploymentId),
    enabled: !isGone && oldOne.isSuccess,
  });
  const actions = useTriggerActions(() => setDeleted(true));
  const accepted = ownLog.data?.entries.find(({ result }) => result === 'accepted');
  const step: Step = isGone ? 'done' : accepted ? 'delete' : 'switch';
  const { agent_id: agentId, deployment_id: deploymentId } = trigger;

  return (
    <Card className="mb-5 border-accent p-4 sm:p-5">
      <h2 className="mb-3 font-semibold">Replacement</h2>
      <Steps current={step} />
      {isGone ? (
        <div className="flex flex-wrap items-center gap-3">
          <p role="status" className="min-w-0 flex-1 basis-60">
            The old trigger is deleted. This one has taken its place.
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
      ) : oldOne.data ? (
        <div className="flex flex-col gap-4">
          <p className="text-muted">
            Give the sender the new URL and the new secret. Until the old trigger is deleted, both work.
          </p>
          <dl className="grid gap-4 xl:grid-cols-2">
            <Side name="New URL" trigger={trigger}>
              {accepted ? (
                <Arrived call={accepted} />
              ) : (
                <Badge tone="accent" live>
                  Waiting for the first accepted request
                </Badge>
              )}
            </Side>
            <Side name="Old URL" trigger={oldOne.data}>
              <Last call={oldLog.data?.entries[0]} />
            </Side>
          </dl>
          <div className="flex flex-wrap items-center gap-2">
            <Button
              look={accepted ? 'danger' : 'secondary'}
              onClick={() =>
                actions.ask({
                  what: 'delete',
                  trigger: oldOne.data,
                  warning: accepted ? undefined : 'The new trigger has not accepted a request yet.',
                })
              }
            >
              Delete the old trigger
            </Button>
            {oldOne.data.status === 'enabled' ? (
              <Button onClick={() => actions.ask({ what: 'disable', trigger: oldOne.data })}>
                Disable the old one first
              </Button>
            ) : (
              <Button busy={actions.isEnabling} onClick={() => actions.enable(oldOne.data)}>
                Enable the old trigger
              </Button>
            )}
          </div>
        </div>
      ) : failure ? (
        <Failure
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

/** What comes to the new one is told by its log, further down. */
function Side({ name, trigger, children }: { name: string; trigger: Deployment; children: ReactNode }) {
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

function Arrived({ call }: { call: Invocation }) {
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

function Last({ call }: { call: Invocation | undefined }) {
  if (!call) return <span className="text-muted">No request yet</span>;
  return (
    <span className="text-muted">
      Last request <Time at={call.created_at} />
    </span>
  );
}
