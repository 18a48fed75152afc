import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { agents as agentsApi } from '../../api/agents.ts';
import { deployments as deploymentsApi } from '../../api/deployments.ts';
import {
  readDeploymentSearch,
  readDeploymentsSearch,
  readNewDeploymentSearch,
} from '../../pages/deployments/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { under } from './root.ts';

const deployments = createRoute({
  getParentRoute: under,
  path: '/deployments',
  validateSearch: readDeploymentsSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps }) {
    void queries.prefetchInfiniteQuery(deploymentsApi.list(deps));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/deployments/deployments.tsx')),
    'DeploymentsPage',
  ),
});

const newDeployment = createRoute({
  getParentRoute: under,
  path: '/deployments/new',
  validateSearch: readNewDeploymentSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { agent: agentId, replaces } }) {
    void queries.prefetchInfiniteQuery(agentsApi.list());
    if (agentId === undefined) return;
    void queries.prefetchQuery(agentsApi.detail(agentId));
    if (replaces !== undefined) void queries.prefetchQuery(deploymentsApi.detail(agentId, replaces));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/deployments/new.tsx')),
    'NewDeploymentPage',
  ),
});

const deployment = createRoute({
  getParentRoute: under,
  path: '/deployments/$agentId/$deploymentId',
  validateSearch: readDeploymentSearch,
  loaderDeps: ({ search: { replaces, of } }) => ({ replaces, of }),
  loader({ context: { queries }, params: { agentId, deploymentId }, deps: { replaces, of = agentId } }) {
    void queries.prefetchQuery(deploymentsApi.detail(agentId, deploymentId));
    if (replaces !== undefined) void queries.prefetchQuery(deploymentsApi.detail(of, replaces));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/deployments/deployment.tsx')),
    'DeploymentPage',
  ),
});

/** Bookmarks of earlier releases, which had webhooks only. */
const formerList = createRoute({
  getParentRoute: under,
  path: '/triggers',
  beforeLoad() {
    throw redirect({ to: '/deployments', replace: true });
  },
});

const formerPage = createRoute({
  getParentRoute: under,
  path: '/triggers/$agentId/$deploymentId',
  beforeLoad({ params }) {
    throw redirect({ to: '/deployments/$agentId/$deploymentId', params, replace: true });
  },
});

export const deploymentsRoutes = [
  ...[deployments, newDeployment, deployment],
  ...[formerList, formerPage],
] as const;
