import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Unplug } from 'lucide-react';
import type { ReactNode } from 'react';
import { isMissing } from '../../api/client.ts';
import { type InvocationLog, invocations } from '../../api/invocations.ts';
import { triggers } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useTriggerActions } from './actions.tsx';
import { TriggerFacts } from './facts.tsx';
import { FirstRequest } from './log/first-request.tsx';
import { RequestLog } from './log/log.tsx';
import { ReplacementGuide } from './replacement/guide.tsx';
import { requests } from './requests.ts';
import { Senders } from './senders/senders.tsx';
import { TriggerStatus, titleOf } from './status.tsx';

const route = getRouteApi('/triggers/$agentId/$deploymentId');
const above = <TextLink to="/triggers">Triggers</TextLink>;

export function TriggerPage() {
  const { agentId, deploymentId } = route.useParams();
  const curlOf = useCurl();
  const query = useQuery(triggers.one(agentId, deploymentId));
  const failure = useFailure(query);
  // Asked for at the same time.
  const log = useQuery(invocations.log(agentId, deploymentId));
  const curl = curlOf({
    ...requests.read({ agent_id: agentId, deployment_id: deploymentId }),
  });
  if (isMissing(failure?.error ?? query.error))
    return (
      <Page title="No such trigger" above={above}>
        <Empty icon={<Unplug />} action={<ButtonLink to="/triggers">All triggers</ButtonLink>} curl={curl}>
          It is deleted, or it is not yours to see. Sessions that it has started are still there.
        </Empty>
      </Page>
    );
  if (!query.data)
    return (
      <Page title="Trigger" above={above}>
        {failure ? <Failure {...failure} curl={curl} /> : <Skeleton lines={8} />}
      </Page>
    );
  return <Shown key={deploymentId} trigger={query.data} log={log} />;
}

function Shown({ trigger, log }: { trigger: Deployment; log: UseQueryResult<InvocationLog> }) {
  const navigate = route.useNavigate();
  const { replaces, of, sender = 'curl' } = route.useSearch();
  const actions = useTriggerActions(() => void navigate({ to: '/triggers' }));
  const { agent_id: agentId, deployment_id: deploymentId, status } = trigger;
  const isEnabled = status === 'enabled';
  const isGone = trigger.agent_name === null;
  return (
    <Page
      title={titleOf(trigger)}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <TriggerStatus status={status} />
          <span className="font-mono text-xs wrap-anywhere">{deploymentId}</span>
        </span>
      }
      above={above}
      actions={
        <>
          <ButtonLink to="/triggers/new" search={{ agent: agentId, replaces: deploymentId }}>
            Replace
          </ButtonLink>
          {isEnabled ? (
            <Button onClick={() => actions.ask({ what: 'disable', trigger })}>Disable</Button>
          ) : (
            <Button look="primary" busy={actions.isEnabling} onClick={() => actions.enable(trigger)}>
              Enable
            </Button>
          )}
          <Button onClick={() => actions.ask({ what: 'delete', trigger })}>Delete</Button>
        </>
      }
    >
      {replaces !== undefined && (
        <ReplacementGuide trigger={trigger} old={{ agentId: of ?? agentId, deploymentId: replaces }} />
      )}
      {!isEnabled && (
        <Notice action={<CopyCurl {...requests.enable(trigger)} label="Copy “Enable” as curl" />}>
          Disabled: its requests are answered with 404 until it is enabled again. Its URL and secret are kept.
        </Notice>
      )}
      {isGone && (
        <Notice>
          Its agent is gone: it can start nothing, and its requests are answered with 409. Replace it by a
          trigger of another agent, or delete it.
        </Notice>
      )}
      {isEnabled && !isGone && replaces === undefined && log.data && <FirstRequest log={log.data} />}
      <TriggerFacts trigger={trigger} />
      <RequestLog trigger={trigger} query={log} />
      <section aria-labelledby="send" className="mt-6">
        <h2 id="send" className="text-base font-semibold">
          Send a request
        </h2>
        <p className="mt-0.5 mb-2 max-w-prose text-muted">
          A test is a real, signed request: each one that is accepted starts a session. This page cannot send
          one, as it does not know the secret. The code does, where the secret is.
        </p>
        <Card className="p-4 sm:p-5">
          <Senders
            url={trigger.trigger_url}
            language={sender}
            onChange={(language) =>
              void navigate({
                search: (before) => ({ ...before, sender: language === 'curl' ? undefined : language }),
                replace: true,
                resetScroll: false,
              })
            }
          />
        </Card>
      </section>
      {actions.dialog}
    </Page>
  );
}

function Notice({ action, children }: { action?: ReactNode; children: ReactNode }) {
  return (
    <div className="mb-5 flex flex-wrap items-center gap-3 rounded-xl border border-warn bg-warn-soft p-4">
      <p className="min-w-0 flex-1 basis-64">{children}</p>
      {action}
    </div>
  );
}
