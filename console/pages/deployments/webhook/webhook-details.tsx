import type { Webhook } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../../parts/navigation/links.tsx';
import { UserName } from '../../../parts/users/user-name.tsx';
import { useViewer } from '../../../parts/users/viewer.ts';
import { Copyable } from '../../../ui/code.tsx';
import { Card } from '../../../ui/page.tsx';
import { PropertyList } from '../../../ui/property-list.tsx';
import { Time } from '../../../ui/time.tsx';
import { TruncatedText } from '../../../ui/truncated-text.tsx';
import { requests } from '../requests.ts';
import { DeploymentStatus, TYPE_NAMES } from '../status.tsx';

/** All fields of a webhook. The secret is not readable. */
export function WebhookDetails({ webhook }: { webhook: Webhook }) {
  const { user } = useViewer();
  const { agent_id: agentId, agent_name: agentName, created_by: createdBy } = webhook;
  return (
    <section aria-label="Details">
      <Card>
        <PropertyList
          facts={[
            {
              name: 'Trigger URL',
              value: <Copyable text={webhook.trigger_url} label="Copy trigger URL" />,
              wide: true,
            },
            {
              name: 'Agent',
              value:
                agentName === null ? (
                  <span>
                    Deleted. <span className="font-mono text-xs text-muted">{agentId}</span>
                  </span>
                ) : (
                  <TextLink to="/agents/$agentId" params={{ agentId }} className="block">
                    <TruncatedText text={agentName} />
                  </TextLink>
                ),
            },
            {
              name: 'Webhook ID',
              value: <Copyable text={webhook.deployment_id} label="Copy webhook ID" />,
            },
            { name: 'Status', value: <DeploymentStatus status={webhook.status} /> },
            { name: 'Type', value: TYPE_NAMES.webhook },
            {
              name: 'Authentication',
              value: 'HMAC-SHA256 with the shared secret that was shown when the webhook was created',
            },
            {
              name: 'Created by',
              value: createdBy === user?.user_id ? 'You' : <UserName id={createdBy} />,
            },
            { name: 'Created', value: <Time at={webhook.created_at} /> },
            { name: 'Last enabled or disabled', value: <LastChange webhook={webhook} /> },
            {
              name: 'Prompt prefix',
              wide: true,
              value: webhook.prompt_prefix ? (
                <section
                  aria-label="Prompt prefix"
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
                  tabIndex={0}
                  className="mt-1 max-h-64 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[12.5px] leading-relaxed wrap-anywhere"
                >
                  <pre dir="auto" className="whitespace-pre-wrap">
                    {webhook.prompt_prefix}
                  </pre>
                </section>
              ) : (
                <span className="text-muted">None. The agent receives only the body.</span>
              ),
            },
          ]}
        />
        <div className="flex justify-end px-4 pb-4 sm:px-5">
          <CopyCurl {...requests.read(webhook)} about="webhook" />
        </div>
      </Card>
    </section>
  );
}

function LastChange({ webhook: { created_at: created, updated_at: updated } }: { webhook: Webhook }) {
  return created === updated ? <span className="text-muted">Never</span> : <Time at={updated} />;
}
