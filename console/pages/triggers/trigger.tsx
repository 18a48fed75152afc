import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Unplug } from 'lucide-react';
import type { ReactNode } from 'react';
import { isNotFound } from '../../api/client.ts';
import { type InvocationLog, invocations } from '../../api/invocations.ts';
import { triggers } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useTriggerActions } from './actions.tsx';
import { FirstRequest } from './log/first-request.tsx';
import { RequestLog } from './log/request-log.tsx';
import { ReplacementGuide } from './replacement/guide.tsx';
import { requests } from './requests.ts';
import { SenderExamples } from './senders/senders.tsx';
import { TriggerStatus, triggerTitle } from './status.tsx';
import { TriggerDetails } from './trigger-details.tsx';

const route = getRouteApi('/triggers/$agentId/$deploymentId');
const above = <TextLink to="/triggers">Triggers</TextLink>;

export function TriggerPage() {
  const { agentId, deploymentId } = route.useParams();
  const curlOf = useCurl();
  const query = useQuery(triggers.detail(agentId, deploymentId));
  const failure = useQueryFailure(query);
  // Requested in parallel with the trigger.
  const log = useQuery(invocations.log(agentId, deploymentId));
  const curl = curlOf({
    ...requests.read({ agent_id: agentId, deployment_id: deploymentId }),
  });
  if (isNotFound(failure?.error ?? query.error))
    return (
      <Page title="Trigger not found" above={above}>
        <EmptyState
          icon={<Unplug />}
          action={<ButtonLink to="/triggers">All triggers</ButtonLink>}
          curl={curl}
        >
          The trigger was deleted, or you do not have access to it. Sessions that it started are kept.
        </EmptyState>
      </Page>
    );
  if (!query.data)
    return (
      <Page title="Trigger" above={above}>
        {failure ? <ErrorState {...failure} curl={curl} /> : <Skeleton lines={8} />}
      </Page>
    );
  return <TriggerContent key={deploymentId} trigger={query.data} log={log} />;
}

function TriggerContent({ trigger, log }: { trigger: Deployment; log: UseQueryResult<InvocationLog> }) {
  const navigate = route.useNavigate();
  const { replaces, of, sender = 'curl' } = route.useSearch();
  const actions = useTriggerActions(() => void navigate({ to: '/triggers' }));
  const { agent_id: agentId, deployment_id: deploymentId, status } = trigger;
  const isEnabled = status === 'enabled';
  const isAgentDeleted = trigger.agent_name === null;
  return (
    <Page
      title={triggerTitle(trigger)}
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
            <Button onClick={() => actions.confirm({ kind: 'disable', trigger })}>Disable</Button>
          ) : (
            <Button look="primary" busy={actions.isEnabling} onClick={() => actions.enable(trigger)}>
              Enable
            </Button>
          )}
          <Button onClick={() => actions.confirm({ kind: 'delete', trigger })}>Delete</Button>
        </>
      }
    >
      {replaces !== undefined && (
        <ReplacementGuide trigger={trigger} old={{ agentId: of ?? agentId, deploymentId: replaces }} />
      )}
      {!isEnabled && (
        <Notice action={<CopyCurl {...requests.enable(trigger)} label="Copy “Enable” as curl" />}>
          This trigger is disabled. Requests return 404 until you enable it. The URL and the secret are kept.
        </Notice>
      )}
      {isAgentDeleted && (
        <Notice>
          The agent of this trigger was deleted, so its requests return 409. Replace the trigger with one for
          another agent, or delete it.
        </Notice>
      )}
      {isEnabled && !isAgentDeleted && replaces === undefined && log.data && <FirstRequest log={log.data} />}
      <TriggerDetails trigger={trigger} />
      <RequestLog trigger={trigger} query={log} />
      <section aria-labelledby="send" className="mt-6">
        <h2 id="send" className="text-base font-semibold">
          Send a request
        </h2>
        <p className="mt-0.5 mb-2 max-w-prose text-muted">
          A test is a real, signed request: each accepted request starts a session. This page cannot send one,
          because it does not know the secret. Run the code where the secret is stored.
        </p>
        <Card className="p-4 sm:p-5">
          <SenderExamples
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
