import type { Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Person } from '../../parts/people/person.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { Copyable } from '../../ui/code.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { requests } from './requests.ts';
import { TriggerStatus, TYPE_NAME } from './status.tsx';

/** All that is known of a trigger. Its secret is not. */
export function TriggerFacts({ trigger }: { trigger: Deployment }) {
  const { user } = useViewer();
  const { agent_id: agentId, agent_name: agentName, created_by: createdBy } = trigger;
  return (
    <section aria-label="Details">
      <Card>
        <Facts
          facts={[
            {
              name: 'Trigger URL',
              value: <Copyable text={trigger.trigger_url} label="Copy the trigger URL" />,
              wide: true,
            },
            {
              name: 'Agent',
              value:
                agentName === null ? (
                  <span>
                    Gone. <span className="font-mono text-xs text-muted">{agentId}</span>
                  </span>
                ) : (
                  <TextLink to="/agents/$agentId" params={{ agentId }} className="block">
                    <Cut text={agentName} />
                  </TextLink>
                ),
            },
            {
              name: 'Trigger ID',
              value: <Copyable text={trigger.deployment_id} label="Copy the trigger ID" />,
            },
            { name: 'Status', value: <TriggerStatus status={trigger.status} /> },
            { name: 'Type', value: TYPE_NAME },
            {
              name: 'Authentication',
              value: 'HMAC-SHA256 with the shared secret, which was shown when the trigger was created',
            },
            {
              name: 'Created by',
              value: createdBy === user?.user_id ? 'You' : <Person id={createdBy} />,
            },
            { name: 'Created', value: <Time at={trigger.created_at} /> },
            { name: 'Last enabled or disabled', value: <Changed trigger={trigger} /> },
            {
              name: 'Prompt prefix',
              wide: true,
              value: trigger.prompt_prefix ? (
                <section
                  aria-label="Prompt prefix"
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
                  tabIndex={0}
                  className="mt-1 max-h-64 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[12.5px] leading-relaxed wrap-anywhere"
                >
                  <pre dir="auto" className="whitespace-pre-wrap">
                    {trigger.prompt_prefix}
                  </pre>
                </section>
              ) : (
                <span className="text-muted">None: the agent gets the body alone.</span>
              ),
            },
          ]}
        />
        <div className="flex justify-end px-4 pb-4 sm:px-5">
          <CopyCurl {...requests.read(trigger)} about="the trigger" />
        </div>
      </Card>
    </section>
  );
}

function Changed({ trigger: { created_at: created, updated_at: updated } }: { trigger: Deployment }) {
  return created === updated ? <span className="text-muted">Never</span> : <Time at={updated} />;
}
