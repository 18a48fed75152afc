import { useMemo } from 'react';
import type { Deployment } from '../../gen/index.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { providerName } from '../../parts/text/provider-names.ts';
import { Time } from '../../ui/time.tsx';
import type { DeploymentActions } from './actions.tsx';
import { RowMenu } from './row-menu.tsx';
import { DeploymentStatus, deploymentTitle, TYPE_NAMES } from './status.tsx';

/** Columns of the deployment list. They are memoized to avoid rendering rows again. */
export function useDeploymentColumns({ enable, confirm }: DeploymentActions): readonly Column<Deployment>[] {
  return useMemo(
    () => [
      {
        name: 'Deployment',
        className: 'w-[36%]',
        cell: (deployment) => <DeploymentCell deployment={deployment} />,
      },
      {
        name: 'Status',
        className: 'w-28',
        cell: ({ status }) => <DeploymentStatus status={status} />,
      },
      { name: 'Type', className: 'w-28', cell: ({ type }) => TYPE_NAMES[type] },
      { name: 'Starts with', cell: (deployment) => <FirstText deployment={deployment} /> },
      { name: 'Created', className: 'w-32', cell: ({ created_at: at }) => <Time at={at} /> },
      {
        name: 'Actions',
        hideName: true,
        className: 'w-16 text-end',
        cell: (deployment) => <RowMenu deployment={deployment} actions={{ enable, confirm }} />,
      },
    ],
    [enable, confirm],
  );
}

/** A deployment in the list on narrow screens. */
export function DeploymentCard({
  deployment,
  actions,
}: {
  deployment: Deployment;
  actions: DeploymentActions;
}) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <DeploymentCell deployment={deployment} />
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
          <DeploymentStatus status={deployment.status} />
          <Time at={deployment.created_at} />
        </div>
      </div>
      <RowMenu deployment={deployment} actions={actions} />
    </div>
  );
}

function DeploymentCell({ deployment }: { deployment: Deployment }) {
  const { agent_id: agentId, deployment_id: deploymentId } = deployment;
  const title = deploymentTitle(deployment);
  return (
    <TextLink to="/deployments/$agentId/$deploymentId" params={{ agentId, deploymentId }} className="block">
      <span className="block truncate text-left" dir="auto" title={title}>
        {title}
      </span>
      <span className="block truncate font-mono text-xs font-normal text-muted">{deploymentId}</span>
    </TextLink>
  );
}

/** The prompt of a schedule, the prefix of a webhook, or the product of a channel. */
function FirstText({ deployment }: { deployment: Deployment }) {
  if (deployment.type === 'channel') return providerName(deployment.provider);
  const text = deployment.type === 'schedule' ? deployment.prompt : deployment.prompt_prefix;
  if (text === null) return <span className="text-muted">The body</span>;
  return (
    <span className="block truncate text-left" dir="auto" title={text.slice(0, 400)}>
      {text}
    </span>
  );
}
