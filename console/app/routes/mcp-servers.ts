import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readMcpServerSearch } from '../../pages/mcp-servers/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../../parts/navigation/search-params.ts';
import { under } from './root.ts';

const loadMcpServerPages = () => loadChunk(() => import('../../pages/mcp-servers/pages.ts'));
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

export const mcpServersRoutes = [mcpServers, newMcpServer, mcpServer] as const;
