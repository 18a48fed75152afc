import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { NotFound } from '../parts/errors/not-found.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { RouteErrorPage } from './route-error.tsx';
import { accountRoutes } from './routes/account.ts';
import { administrationRoutes } from './routes/administration.ts';
import { agentsRoutes } from './routes/agents.ts';
import { assistantsRoutes } from './routes/assistants.ts';
import { deploymentsRoutes } from './routes/deployments.ts';
import { environmentsRoutes } from './routes/environments.ts';
import { homeRoutes } from './routes/home.ts';
import { mcpServersRoutes } from './routes/mcp-servers.ts';
import { root } from './routes/root.ts';
import { sessionsRoutes } from './routes/sessions.ts';
import { skillsRoutes } from './routes/skills.ts';
import { vaultsRoutes } from './routes/vaults.ts';

const routes = root.addChildren([
  ...homeRoutes,
  ...deploymentsRoutes,
  ...sessionsRoutes,
  ...agentsRoutes,
  ...assistantsRoutes,
  ...environmentsRoutes,
  ...vaultsRoutes,
  ...mcpServersRoutes,
  ...skillsRoutes,
  ...accountRoutes,
  ...administrationRoutes,
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
