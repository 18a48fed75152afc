import { useMemo } from 'react';
import type { Deployment } from '../../gen/index.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { Time } from '../../ui/time.tsx';
import type { TriggerActions } from './actions.tsx';
import { RowMenu } from './row-menu.tsx';
import { agentNameOf, TriggerStatus } from './status.tsx';

/** Columns of the trigger list. They are memoized to avoid rendering rows again. */
export function useTriggerColumns({ enable, confirm }: TriggerActions): readonly Column<Deployment>[] {
  return useMemo(
    () => [
      { name: 'Trigger', className: 'w-[36%]', cell: (trigger) => <TriggerCell trigger={trigger} /> },
      {
        name: 'Status',
        className: 'w-28',
        cell: ({ status }) => <TriggerStatus status={status} />,
      },
      { name: 'Type', className: 'w-28', cell: () => 'Webhook' },
      { name: 'Prompt prefix', cell: ({ prompt_prefix: prefix }) => <PromptPrefix text={prefix} /> },
      { name: 'Created', className: 'w-32', cell: ({ created_at: at }) => <Time at={at} /> },
      {
        name: 'Actions',
        hideName: true,
        className: 'w-16 text-end',
        cell: (trigger) => <RowMenu trigger={trigger} actions={{ enable, confirm }} />,
      },
    ],
    [enable, confirm],
  );
}

/** A trigger in the list on narrow screens. */
export function TriggerCard({ trigger, actions }: { trigger: Deployment; actions: TriggerActions }) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <TriggerCell trigger={trigger} />
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
          <TriggerStatus status={trigger.status} />
          <Time at={trigger.created_at} />
        </div>
      </div>
      <RowMenu trigger={trigger} actions={actions} />
    </div>
  );
}

function TriggerCell({ trigger }: { trigger: Deployment }) {
  const { agent_id: agentId, deployment_id: deploymentId } = trigger;
  const name = agentNameOf(trigger);
  return (
    <TextLink to="/triggers/$agentId/$deploymentId" params={{ agentId, deploymentId }} className="block">
      <span className="block truncate text-left" dir="auto" title={name}>
        {name}
      </span>
      <span className="block truncate font-mono text-xs font-normal text-muted">{deploymentId}</span>
    </TextLink>
  );
}

function PromptPrefix({ text }: { text: string | null }) {
  if (text === null) return <span className="text-muted">None</span>;
  return (
    <span className="block truncate text-left" dir="auto" title={text.slice(0, 400)}>
      {text}
    </span>
  );
}
