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
import { newestPage } from '../journal/pages.ts';
import { readAdministrationSearch } from '../pages/administration/search.ts';
import { readAgentSearch } from '../pages/agents/search.ts';
import { readAssistantSearch } from '../pages/assistants/search.ts';
import { readEnvironmentSearch } from '../pages/environments/search.ts';
import { filtersOf, readSessionSearch, readSessionsSearch } from '../pages/sessions/search.ts';
import { readNewTriggerSearch, readTriggerSearch, readTriggersSearch } from '../pages/triggers/search.ts';
import { NotFound } from '../parts/faults/not-found.tsx';
import { piece } from '../parts/piece.ts';
import { readWordSearch } from '../parts/search.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { Crash } from './faults.tsx';
import { Layout } from './layout.tsx';

/** What a page asks for first is asked for while the page itself is still on its way. */
interface RouterContext {
  queries: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: Layout,
  loader: ({ context: { queries } }) => queries.ensureQueryData(login),
});
const under = () => root;

const home = createRoute({
  getParentRoute: under,
  path: '/',
  loader({ context: { queries } }) {
    void queries.prefetchQuery(sessionsApi.newest());
    void queries.prefetchQuery(sessionsApi.newest({ needs_action: true }));
    void queries.prefetchInfiniteQuery(agentsApi.list());
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/home/home.tsx')), 'HomePage'),
});

const triggers = createRoute({
  getParentRoute: under,
  path: '/triggers',
  validateSearch: readTriggersSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q, status } }) {
    void queries.prefetchInfiniteQuery(triggersApi.list({ q, status }));
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/triggers/triggers.tsx')), 'TriggersPage'),
});
const newTrigger = createRoute({
  getParentRoute: under,
  path: '/triggers/new',
  validateSearch: readNewTriggerSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { agent: agentId, replaces } }) {
    void queries.prefetchInfiniteQuery(agentsApi.list());
    if (agentId === undefined) return;
    void queries.prefetchQuery(agentsApi.one(agentId));
    if (replaces !== undefined) void queries.prefetchQuery(triggersApi.one(agentId, replaces));
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/triggers/new.tsx')), 'NewTriggerPage'),
});
const trigger = createRoute({
  getParentRoute: under,
  path: '/triggers/$agentId/$deploymentId',
  validateSearch: readTriggerSearch,
  loaderDeps: ({ search: { replaces, of } }) => ({ replaces, of }),
  loader({ context: { queries }, params: { agentId, deploymentId }, deps: { replaces, of = agentId } }) {
    void queries.prefetchQuery(triggersApi.one(agentId, deploymentId));
    void queries.prefetchQuery(invocations.log(agentId, deploymentId));
    if (replaces !== undefined) void queries.prefetchQuery(triggersApi.one(of, replaces));
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/triggers/trigger.tsx')), 'TriggerPage'),
});

const sessions = createRoute({
  getParentRoute: under,
  path: '/sessions',
  validateSearch: readSessionsSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps }) {
    void queries.prefetchInfiniteQuery(sessionsApi.list(filtersOf(deps), deps.all));
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/sessions/sessions.tsx')), 'SessionsPage'),
});
const session = createRoute({
  getParentRoute: under,
  path: '/sessions/$sessionId',
  validateSearch: readSessionSearch,
  loader({ context: { queries }, params: { sessionId } }) {
    void queries.prefetchQuery(sessionsApi.one(sessionId));
    void queries.prefetchQuery(newestPage(sessionId));
    void import('../parts/text/markdown-text.tsx').catch(() => {});
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/sessions/session.tsx')), 'SessionPage'),
});

const agents = createRoute({
  getParentRoute: under,
  path: '/agents',
  validateSearch: readWordSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(agentsApi.list(q));
  },
  component: lazyRouteComponent(() => piece(() => import('../pages/agents/agents.tsx')), 'AgentsPage'),
});
const newAgent = createRoute({
  getParentRoute: under,
  path: '/agents/new',
  component: lazyRouteComponent(() => piece(() => import('../pages/agents/new.tsx')), 'NewAgentPage'),
});
const agent = createRoute({
  getParentRoute: under,
  path: '/agents/$agentId',
  loader({ context: { queries }, params: { agentId } }) {
    void queries.prefetchQuery(agentsApi.one(agentId));
  },
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => piece(() => import('../pages/agents/agent.tsx')), 'AgentPage'),
});

const assistants = createRoute({
  getParentRoute: under,
  path: '/assistants',
  validateSearch: readWordSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(assistantsApi.list(q));
  },
  component: lazyRouteComponent(
    () => piece(() => import('../pages/assistants/assistants.tsx')),
    'AssistantsPage',
  ),
});
const newAssistant = createRoute({
  getParentRoute: under,
  path: '/assistants/new',
  component: lazyRouteComponent(() => piece(() => import('../pages/assistants/new.tsx')), 'NewAssistantPage'),
});
const assistant = createRoute({
  getParentRoute: under,
  path: '/assistants/$assistantId',
  validateSearch: readAssistantSearch,
  loaderDeps: ({ search: { tab } }) => ({ tab }),
  loader({ context: { queries }, params: { assistantId }, deps: { tab } }) {
    void queries.prefetchQuery(assistantsApi.one(assistantId));
    if (tab !== 'files') return;
    void queries.prefetchQuery(assistantsApi.workspace(assistantId));
    void import('../parts/files/browser.tsx').catch(() => {});
  },
  component: lazyRouteComponent(
    () => piece(() => import('../pages/assistants/assistant.tsx')),
    'AssistantPage',
  ),
});

const environments = createRoute({
  getParentRoute: under,
  path: '/environments',
  validateSearch: readWordSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(environmentsApi.list(q));
  },
  component: lazyRouteComponent(
    () => piece(() => import('../pages/environments/environments.tsx')),
    'EnvironmentsPage',
  ),
});
const newEnvironment = createRoute({
  getParentRoute: under,
  path: '/environments/new',
  component: lazyRouteComponent(
    () => piece(() => import('../pages/environments/new.tsx')),
    'NewEnvironmentPage',
  ),
});
const environment = createRoute({
  getParentRoute: under,
  path: '/environments/$environmentId',
  validateSearch: readEnvironmentSearch,
  loader({ context: { queries }, params: { environmentId } }) {
    void queries.prefetchQuery(environmentsApi.one(environmentId));
  },
  component: lazyRouteComponent(
    () => piece(() => import('../pages/environments/environment.tsx')),
    'EnvironmentPage',
  ),
});

const tokens = createRoute({
  getParentRoute: under,
  path: '/tokens',
  component: lazyRouteComponent(() => piece(() => import('../pages/tokens/tokens.tsx')), 'TokensPage'),
});
const administration = createRoute({
  getParentRoute: under,
  path: '/administration',
  validateSearch: readAdministrationSearch,
  component: lazyRouteComponent(
    () => piece(() => import('../pages/administration/administration.tsx')),
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
  ...[tokens, administration],
]);

export function openRouter(queries: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { queries },
    // What a page needs is on its way before the button is let go.
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: Crash,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>;
  }
}
