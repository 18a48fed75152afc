import { type Settings, setting } from '../../lib/env.ts';
import type { PrivateHost } from '../../lib/outbound/private-hosts.ts';
import { keySettings } from './keys/settings.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_VAULTS_POOL',
    { min: 1, max: 100, unit: 'connections' },
    {
      fallback: 4,
      about:
        'Database connections of the vaults service. Team mode opens a second pool of the same size for requests on behalf of users.',
    },
  ),
  ...keySettings,
};

export type VaultsConfig = Settings<typeof settings> & {
  /** URLs of the OpenAI-compatible endpoints whose keys can be stored, by name. */
  modelEndpoints?: Record<string, string> | undefined;
  /** Private hosts that MCP servers may have. */
  outboundPrivateHosts?: readonly PrivateHost[] | undefined;
  /** Whether outbound requests may reach a private host of this port, over http, too. */
  isPrivateHost: (host: string, port: number) => boolean;
};
