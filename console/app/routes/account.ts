import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readConnectionsSearch } from '../../pages/connections/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { under } from './root.ts';

const tokens = createRoute({
  getParentRoute: under,
  path: '/tokens',
  component: lazyRouteComponent(() => loadChunk(() => import('../../pages/tokens/tokens.tsx')), 'TokensPage'),
});

const connections = createRoute({
  getParentRoute: under,
  path: '/connections',
  validateSearch: readConnectionsSearch,
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/connections/connections.tsx')),
    'ConnectionsPage',
  ),
});

const link = createRoute({
  getParentRoute: under,
  path: '/link/$code',
  component: lazyRouteComponent(() => loadChunk(() => import('../../pages/link/link.tsx')), 'LinkPage'),
});

export const accountRoutes = [tokens, connections, link] as const;
