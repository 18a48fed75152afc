import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { invocations } from '../../../api/invocations.ts';
import type { Webhook } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { ButtonLink, TextLink } from '../../../parts/navigation/links.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, Page } from '../../../ui/page.tsx';
import { useDeploymentActions } from '../actions.tsx';
import { requests } from '../requests.ts';
import { DeploymentStatus, webhookTitle } from '../status.tsx';
import { FirstRequest } from './log/first-request.tsx';
import { RequestLog } from './log/request-log.tsx';
import { ReplacementGuide } from './replacement/guide.tsx';
import { SenderExamples } from './senders/senders.tsx';
import { WebhookDetails } from './webhook-details.tsx';

const route = getRouteApi('/deployments/$agentId/$deploymentId');
const above = <TextLink to="/deployments">Deployments</TextLink>;

/** The page of a webhook. */
export function WebhookContent({ webhook }: { webhook: Webhook }) {
  const navigate = route.useNavigate();
  const { replaces, of, sender = 'curl' } = route.useSearch();
  const actions = useDeploymentActions(() => void navigate({ to: '/deployments' }));
  const { agent_id: agentId, deployment_id: deploymentId, status } = webhook;
  const log = useQuery(invocations.log(agentId, deploymentId));
  const isEnabled = status === 'enabled';
  const isAgentDeleted = webhook.agent_name === null;
  return (
    <Page
      title={webhookTitle(webhook)}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <DeploymentStatus status={status} />
          <span className="font-mono text-xs wrap-anywhere">{deploymentId}</span>
        </span>
      }
      above={above}
      actions={
        <>
          <ButtonLink to="/deployments/new" search={{ agent: agentId, replaces: deploymentId }}>
            Replace
          </ButtonLink>
          {isEnabled ? (
            <Button onClick={() => actions.confirm({ kind: 'disable', deployment: webhook })}>Disable</Button>
          ) : (
            <Button look="primary" busy={actions.isEnabling} onClick={() => actions.enable(webhook)}>
              Enable
            </Button>
          )}
          <Button onClick={() => actions.confirm({ kind: 'delete', deployment: webhook })}>Delete</Button>
        </>
      }
    >
      {replaces !== undefined && (
        <ReplacementGuide webhook={webhook} old={{ agentId: of ?? agentId, deploymentId: replaces }} />
      )}
      {!isEnabled && (
        <Notice action={<CopyCurl {...requests.enable(webhook)} label="Copy “Enable” as curl" />}>
          This webhook is disabled. Requests return 404 until you enable it. The URL and the secret are kept.
        </Notice>
      )}
      {isAgentDeleted && (
        <Notice>
          The agent of this webhook was deleted, so its requests return 409. Replace the webhook with one for
          another agent, or delete it.
        </Notice>
      )}
      {isEnabled && !isAgentDeleted && replaces === undefined && log.data && <FirstRequest log={log.data} />}
      <WebhookDetails webhook={webhook} />
      <RequestLog webhook={webhook} query={log} />
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
            url={webhook.trigger_url}
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
