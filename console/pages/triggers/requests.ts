import type { Deployment } from '../../gen/index.ts';
import { type CurlOptions, pathWith } from '../../parts/curl/curl.ts';
import type { TriggersSearch } from './search.ts';

type Address = Pick<Deployment, 'agent_id' | 'deployment_id'>;

const pathOf = ({ agent_id: agentId, deployment_id: id }: Address) =>
  `/admin/agents/${agentId}/deployments/${id}`;

/** What the pages of triggers ask the service, as requests to copy. */
export const requests = {
  list: (filters: TriggersSearch): CurlOptions => ({ path: pathWith('/admin/deployments', filters) }),
  create: (agentId: string | undefined, prefix: string): CurlOptions => ({
    method: 'POST',
    path: `/admin/agents/${agentId ?? 'AGENT_ID'}/deployments`,
    body: { type: 'webhook', ...(prefix ? { prompt_prefix: prefix } : {}) },
  }),
  read: (trigger: Address): CurlOptions => ({ path: pathOf(trigger) }),
  enable: (trigger: Address): CurlOptions => ({ method: 'POST', path: `${pathOf(trigger)}/enable` }),
  disable: (trigger: Address): CurlOptions => ({ method: 'POST', path: `${pathOf(trigger)}/disable` }),
  delete: (trigger: Address): CurlOptions => ({ method: 'DELETE', path: pathOf(trigger) }),
  calls: (trigger: Address): CurlOptions => ({ path: `${pathOf(trigger)}/invocations` }),
};
