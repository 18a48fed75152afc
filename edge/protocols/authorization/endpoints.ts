import type { FastifyRequest } from 'fastify';

/** The paths of the endpoints that are protected resources of OAuth 2, with parameters in braces. */
export const ENDPOINTS = {
  mcp: '/api/v1/mcp',
  rootMcp: '/mcp',
  agentMcp: '/api/v1/mcp/agents/{agent_id}',
  /** The base URL of clients of the OpenAI API: one resource with several routes. */
  openai: '/api/v1/openai/v1',
} as const;

const { openai: BASE, ...SINGLE } = ENDPOINTS;
const PATTERNS = new Set(Object.values(SINGLE).map((path) => path.replace(/\{(\w+)\}/g, ':$1')));

/**
 * Returns the path of the protected resource that a request addresses, in the form in which clients name it; undefined for
 * other routes.
 */
export function endpointOf({ routeOptions: { url }, params }: FastifyRequest): string | undefined {
  if (url?.startsWith(`${BASE}/`)) return BASE;
  if (url === undefined || !PATTERNS.has(url)) return undefined;
  const values = params as Record<string, string>;
  return url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}
