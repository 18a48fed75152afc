import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agents as agentsApi } from '../../api/agents.ts';
import { readAgentSearch } from '../../pages/agents/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../../parts/navigation/search-params.ts';
import { under } from './root.ts';

const agents = createRoute({
  getParentRoute: under,
  path: '/agents',
  validateSearch: readTextSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(agentsApi.list(q));
  },
  component: lazyRouteComponent(() => loadChunk(() => import('../../pages/agents/agents.tsx')), 'AgentsPage'),
});

const newAgent = createRoute({
  getParentRoute: under,
  path: '/agents/new',
  component: lazyRouteComponent(() => loadChunk(() => import('../../pages/agents/new.tsx')), 'NewAgentPage'),
});

const agent = createRoute({
  getParentRoute: under,
  path: '/agents/$agentId',
  loader({ context: { queries }, params: { agentId } }) {
    void queries.prefetchQuery(agentsApi.detail(agentId));
  },
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => loadChunk(() => import('../../pages/agents/agent.tsx')), 'AgentPage'),
});

export const agentsRoutes = [agents, newAgent, agent] as const;
