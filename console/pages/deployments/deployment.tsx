import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Unplug } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { isNotFound } from '../../api/client.ts';
import { deployments } from '../../api/deployments.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { requests } from './requests.ts';
import { WebhookContent } from './webhook/webhook.tsx';

const route = getRouteApi('/deployments/$agentId/$deploymentId');
const above = <TextLink to="/deployments">Deployments</TextLink>;

const ScheduleContent = lazy(async () => ({
  default: (await import('./schedule/schedule.tsx')).ScheduleContent,
}));

const ChannelContent = lazy(async () => ({
  default: (await import('./channel/channel.tsx')).ChannelContent,
}));

/** The page of a deployment of any type. */
export function DeploymentPage() {
  const { agentId, deploymentId } = route.useParams();
  const curlOf = useCurl();
  const query = useQuery(deployments.detail(agentId, deploymentId));
  const failure = useQueryFailure(query);
  const curl = curlOf(requests.read({ agent_id: agentId, deployment_id: deploymentId }));
  if (isNotFound(failure?.error ?? query.error))
    return (
      <Page title="Deployment not found" above={above}>
        <EmptyState
          icon={<Unplug />}
          action={<ButtonLink to="/deployments">All deployments</ButtonLink>}
          curl={curl}
        >
          The deployment was deleted, or you do not have access to it. Sessions that it started are kept.
        </EmptyState>
      </Page>
    );
  const deployment = query.data;
  if (!deployment)
    return (
      <Page title="Deployment" above={above}>
        {failure ? <ErrorState {...failure} curl={curl} /> : <Skeleton lines={8} />}
      </Page>
    );
  if (deployment.type === 'webhook') return <WebhookContent key={deploymentId} webhook={deployment} />;
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      {deployment.type === 'schedule' ? (
        <ScheduleContent key={deploymentId} schedule={deployment} />
      ) : (
        <ChannelContent key={deploymentId} channel={deployment} />
      )}
    </Suspense>
  );
}
