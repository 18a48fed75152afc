import type { Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { UserName } from '../../parts/users/user-name.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { Copyable } from '../../ui/code.tsx';
import { Card } from '../../ui/page.tsx';
import { PropertyList } from '../../ui/property-list.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { requests } from './requests.ts';
import { TriggerStatus, TYPE_NAME } from './status.tsx';

/** All fields of a trigger. The secret is not readable. */
export function TriggerDetails({ trigger }: { trigger: Deployment }) {
  const { user } = useViewer();
  const { agent_id: agentId, agent_name: agentName, created_by: createdBy } = trigger;
  return (
    <section aria-label="Details">
      <Card>
        <PropertyList
          facts={[
            {
              name: 'Trigger URL',
              value: <Copyable text={trigger.trigger_url} label="Copy trigger URL" />,
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
              name: 'Trigger ID',
              value: <Copyable text={trigger.deployment_id} label="Copy trigger ID" />,
            },
            { name: 'Status', value: <TriggerStatus status={trigger.status} /> },
            { name: 'Type', value: TYPE_NAME },
            {
              name: 'Authentication',
              value: 'HMAC-SHA256 with the shared secret that was shown when the trigger was created',
            },
            {
              name: 'Created by',
              value: createdBy === user?.user_id ? 'You' : <UserName id={createdBy} />,
            },
            { name: 'Created', value: <Time at={trigger.created_at} /> },
            { name: 'Last enabled or disabled', value: <LastChange trigger={trigger} /> },
            {
              name: 'Prompt prefix',
              wide: true,
              value: trigger.prompt_prefix ? (
                <section
                  aria-label="Prompt prefix"
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
                  tabIndex={0}
                  className="mt-1 max-h-64 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[12.5px] leading-relaxed wrap-anywhere"
                >
                  <pre dir="auto" className="whitespace-pre-wrap">
                    {trigger.prompt_prefix}
                  </pre>
                </section>
              ) : (
                <span className="text-muted">None. The agent receives only the body.</span>
              ),
            },
          ]}
        />
        <div className="flex justify-end px-4 pb-4 sm:px-5">
          <CopyCurl {...requests.read(trigger)} about="trigger" />
        </div>
      </Card>
    </section>
  );
}

function LastChange({ trigger: { created_at: created, updated_at: updated } }: { trigger: Deployment }) {
  return created === updated ? <span className="text-muted">Never</span> : <Time at={updated} />;
}
