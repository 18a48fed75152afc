import { type Settings, setting } from '../../lib/env.ts';
import { mcpMaxTools } from '../../lib/limits.ts';
import type { ModelTable } from '../../lib/models/table.ts';
import type { PrivateHost } from '../../lib/outbound/private-hosts.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_AGENTS_POOL',
    { min: 1, max: 100, unit: 'connections' },
    {
      fallback: 4,
      about:
        'Database connections of the agents service. Team mode opens a second pool of the same size for requests on behalf of users.',
    },
  ),
  mcpMaxTools,
};

export type AgentsConfig = Settings<typeof settings> & {
  /** URLs of the OpenAI-compatible endpoints whose models agents can use, by name. */
  modelEndpoints?: Record<string, string> | undefined;
  /** The limits and capabilities of models. Default: those of this release. */
  modelTable?: ModelTable | undefined;
  /** Private hosts that MCP servers may have. */
  outboundPrivateHosts?: readonly PrivateHost[] | undefined;
};
