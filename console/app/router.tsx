import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { agents as agentsApi } from '../api/agents.ts';
import { assistants as assistantsApi } from '../api/assistants.ts';
import { environments as environmentsApi } from '../api/environments.ts';
import { invocations } from '../api/invocations.ts';
import { login } from '../api/login.ts';
import { sessions as sessionsApi } from '../api/sessions.ts';
import { triggers as triggersApi } from '../api/triggers.ts';
import { newestPage } from '../journal/event-pages.ts';
import { readAdministrationSearch } from '../pages/administration/search.ts';
import { readAgentSearch } from '../pages/agents/search.ts';
import { readAssistantSearch } from '../pages/assistants/search.ts';
import { readConnectionsSearch } from '../pages/connections/search.ts';
import { readEnvironmentSearch } from '../pages/environments/search.ts';
import { readMcpServerSearch } from '../pages/mcp-servers/search.ts';
import {
  filtersOf,
  readSessionSearch,
  readSessionsSearch,
  type SessionView,
} from '../pages/sessions/search.ts';
import { readSkillSearch } from '../pages/skills/search.ts';
import { readNewTriggerSearch, readTriggerSearch, readTriggersSearch } from '../pages/triggers/search.ts';
import { NotFound } from '../parts/errors/not-found.tsx';
import { loadChunk } from '../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../parts/navigation/search-params.ts';
import { viewerOf } from '../parts/users/viewer.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { Layout } from './layout.tsx';
import { RouteErrorPage } from './route-error.tsx';

/** Route loaders request the data of a page while its code is still loading. */
interface RouterContext {
  queries: QueryClient;
}

/** The part of the query client that the loaders of pages use. */
type Prefetcher = Pick<QueryClient, 'prefetchQuery' | 'prefetchInfiniteQuery'>;

const NO_PREFETCHER: Prefetcher = {
  prefetchQuery: async () => {},
  prefetchInfiniteQuery: async () => {},
};

/** The login is requested before any other data. Until a user is logged in, the pages request nothing. */
const root = createRootRouteWithContext<RouterContext>()({
  component: Layout,
  async beforeLoad({ context: { queries } }): Promise<{ queries: Prefetcher }> {
    const viewer = viewerOf(await queries.ensureQueryData(login));
    return { queries: viewer.isLoginRequired ? NO_PREFETCHER : queries };
  },
});
const under = () => root;

const home = createRoute({
  getParentRoute: under,
  path: '/',
  loader({ context: { queries } }) {
    void queries.prefetchQuery(sessionsApi.newest());
    void queries.prefetchQuery(sessionsApi.newest({ state: ['needs_input'] }));
    void queries.prefetchQuery(sessionsApi.newest({ state: ['needs_approval'] }));
    void queries.prefetchInfiniteQuery(agentsApi.list());
  },
  component: lazyRouteComponent(() => loadChunk(() => import('../pages/home/home.tsx')), 'HomePage'),
});

const triggers = createRoute({
  getParentRoute: under,
  path: '/triggers',
  validateSearch: readTriggersSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q, status } }) {
    void queries.prefetchInfiniteQuery(triggersApi.list({ q, status }));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/triggers/triggers.tsx')),
    'TriggersPage',
  ),
});
const newTrigger = createRoute({
  getParentRoute: under,
  path: '/triggers/new',
  validateSearch: readNewTriggerSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { agent: agentId, replaces } }) {
    void queries.prefetchInfiniteQuery(agentsApi.list());
    if (agentId === undefined) return;
    void queries.prefetchQuery(agentsApi.detail(agentId));
    if (replaces !== undefined) void queries.prefetchQuery(triggersApi.detail(agentId, replaces));
  },
  component: lazyRouteComponent(() => loadChunk(() => import('../pages/triggers/new.tsx')), 'NewTriggerPage'),
});
const trigger = createRoute({
  getParentRoute: under,
  path: '/triggers/$agentId/$deploymentId',
  validateSearch: readTriggerSearch,
  loaderDeps: ({ search: { replaces, of } }) => ({ replaces, of }),
  loader({ context: { queries }, params: { agentId, deploymentId }, deps: { replaces, of = agentId } }) {
    void queries.prefetchQuery(triggersApi.detail(agentId, deploymentId));
    void queries.prefetchQuery(invocations.log(agentId, deploymentId));
    if (replaces !== undefined) void queries.prefetchQuery(triggersApi.detail(of, replaces));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/triggers/trigger.tsx')),
    'TriggerPage',
  ),
});

const sessions = createRoute({
  getParentRoute: under,
  path: '/sessions',
  validateSearch: readSessionsSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps }) {
    void queries.prefetchInfiniteQuery(sessionsApi.list(filtersOf(deps), deps.all));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/sessions/sessions.tsx')),
    'SessionsPage',
  ),
});
/** Loads the code of a view of the session page that is not part of the page. */
const SESSION_VIEWS: Record<SessionView, () => Promise<unknown>> = {
  chat: () =>
    Promise.all([import('../pages/sessions/chat/chat.tsx'), import('../parts/text/markdown-text.tsx')]),
  timeline: () => import('../pages/sessions/timeline/timeline.tsx'),
  raw: () => import('../pages/sessions/raw/raw.tsx'),
  files: () => import('../parts/files/browser.tsx'),
};
const session = createRoute({
  getParentRoute: under,
  path: '/sessions/$sessionId',
  validateSearch: readSessionSearch,
  loader({ context: { queries }, params: { sessionId }, location }) {
    void queries.prefetchQuery(sessionsApi.detail(sessionId));
    void queries.prefetchQuery(newestPage(sessionId));
    const { view = 'chat' } = readSessionSearch(location.search);
    void SESSION_VIEWS[view]().catch(() => {});
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/sessions/session.tsx')),
    'SessionPage',
  ),
});

const agents = createRoute({
  getParentRoute: under,
  path: '/agents',
  validateSearch: readTextSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(agentsApi.list(q));
  },
  component: lazyRouteComponent(() => loadChunk(() => import('../pages/agents/agents.tsx')), 'AgentsPage'),
});
const newAgent = createRoute({
  getParentRoute: under,
  path: '/agents/new',
  component: lazyRouteComponent(() => loadChunk(() => import('../pages/agents/new.tsx')), 'NewAgentPage'),
});
const agent = createRoute({
  getParentRoute: under,
  path: '/agents/$agentId',
  loader({ context: { queries }, params: { agentId } }) {
    void queries.prefetchQuery(agentsApi.detail(agentId));
  },
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => loadChunk(() => import('../pages/agents/agent.tsx')), 'AgentPage'),
});

const assistants = createRoute({
  getParentRoute: under,
  path: '/assistants',
  validateSearch: readTextSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(assistantsApi.list(q));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/assistants/assistants.tsx')),
    'AssistantsPage',
  ),
});
const newAssistant = createRoute({
  getParentRoute: under,
  path: '/assistants/new',
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/assistants/new.tsx')),
    'NewAssistantPage',
  ),
});
const assistant = createRoute({
  getParentRoute: under,
  path: '/assistants/$assistantId',
  validateSearch: readAssistantSearch,
  loaderDeps: ({ search: { tab } }) => ({ tab }),
  loader({ context: { queries }, params: { assistantId }, deps: { tab } }) {
    void queries.prefetchQuery(assistantsApi.detail(assistantId));
    if (tab !== 'files') return;
    void queries.prefetchQuery(assistantsApi.workspace(assistantId));
    void import('../parts/files/browser.tsx').catch(() => {});
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/assistants/assistant.tsx')),
    'AssistantPage',
  ),
});

const loadEnvironmentPages = () => loadChunk(() => import('../pages/environments/pages.ts'));
const environments = createRoute({
  getParentRoute: under,
  path: '/environments',
  validateSearch: readTextSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(environmentsApi.list(q));
  },
  component: lazyRouteComponent(loadEnvironmentPages, 'EnvironmentsPage'),
});
const newEnvironment = createRoute({
  getParentRoute: under,
  path: '/environments/new',
  component: lazyRouteComponent(loadEnvironmentPages, 'NewEnvironmentPage'),
});
const environment = createRoute({
  getParentRoute: under,
  path: '/environments/$environmentId',
  validateSearch: readEnvironmentSearch,
  loader({ context: { queries }, params: { environmentId } }) {
    void queries.prefetchQuery(environmentsApi.detail(environmentId));
  },
  component: lazyRouteComponent(loadEnvironmentPages, 'EnvironmentPage'),
});

const loadVaultPages = () => loadChunk(() => import('../pages/vaults/pages.ts'));
const vaults = createRoute({
  getParentRoute: under,
  path: '/vaults',
  validateSearch: readTextSearch,
  component: lazyRouteComponent(loadVaultPages, 'VaultsPage'),
});
const newVault = createRoute({
  getParentRoute: under,
  path: '/vaults/new',
  component: lazyRouteComponent(loadVaultPages, 'NewVaultPage'),
});
const vault = createRoute({
  getParentRoute: under,
  path: '/vaults/$vaultId',
  component: lazyRouteComponent(loadVaultPages, 'VaultPage'),
});

const loadMcpServerPages = () => loadChunk(() => import('../pages/mcp-servers/pages.ts'));
const mcpServers = createRoute({
  getParentRoute: under,
  path: '/mcp-servers',
  validateSearch: readTextSearch,
  component: lazyRouteComponent(loadMcpServerPages, 'McpServersPage'),
});
const newMcpServer = createRoute({
  getParentRoute: under,
  path: '/mcp-servers/new',
  component: lazyRouteComponent(loadMcpServerPages, 'NewMcpServerPage'),
});
const mcpServer = createRoute({
  getParentRoute: under,
  path: '/mcp-servers/$mcpServerId',
  validateSearch: readMcpServerSearch,
  component: lazyRouteComponent(loadMcpServerPages, 'McpServerPage'),
});

const loadSkillPages = () => loadChunk(() => import('../pages/skills/pages.ts'));
const skills = createRoute({
  getParentRoute: under,
  path: '/skills',
  validateSearch: readTextSearch,
  component: lazyRouteComponent(loadSkillPages, 'SkillsPage'),
});
const newSkill = createRoute({
  getParentRoute: under,
  path: '/skills/new',
  component: lazyRouteComponent(loadSkillPages, 'NewSkillPage'),
});
const skill = createRoute({
  getParentRoute: under,
  path: '/skills/$skillId',
  validateSearch: readSkillSearch,
  component: lazyRouteComponent(loadSkillPages, 'SkillPage'),
});

const tokens = createRoute({
  getParentRoute: under,
  path: '/tokens',
  component: lazyRouteComponent(() => loadChunk(() => import('../pages/tokens/tokens.tsx')), 'TokensPage'),
});
const connections = createRoute({
  getParentRoute: under,
  path: '/connections',
  validateSearch: readConnectionsSearch,
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/connections/connections.tsx')),
    'ConnectionsPage',
  ),
});
const administration = createRoute({
  getParentRoute: under,
  path: '/administration',
  validateSearch: readAdministrationSearch,
  component: lazyRouteComponent(
    () => loadChunk(() => import('../pages/administration/administration.tsx')),
    'AdministrationPage',
  ),
});

const routes = root.addChildren([
  home,
  ...[triggers, newTrigger, trigger],
  ...[sessions, session],
  ...[agents, newAgent, agent],
  ...[assistants, newAssistant, assistant],
  ...[environments, newEnvironment, environment],
  ...[vaults, newVault, vault],
  ...[mcpServers, newMcpServer, mcpServer],
  ...[skills, newSkill, skill],
  ...[tokens, connections, administration],
]);

export function openRouter(queries: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { queries },
    // Preloads a page on hover and on press.
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: RouteErrorPage,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>;
  }
}
