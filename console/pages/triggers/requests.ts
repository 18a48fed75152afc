import type { Deployment } from '../../gen/index.ts';
import { type CurlOptions, pathWithQuery } from '../../parts/curl/curl.ts';
import type { TriggersSearch } from './search.ts';

type TriggerRef = Pick<Deployment, 'agent_id' | 'deployment_id'>;

const pathOf = ({ agent_id: agentId, deployment_id: id }: TriggerRef) =>
  `/admin/agents/${agentId}/deployments/${id}`;

/** API requests of the trigger pages, for curl commands. */
export const requests = {
  list: (filters: TriggersSearch): CurlOptions => ({ path: pathWithQuery('/admin/deployments', filters) }),
  create: (agentId: string | undefined, prefix: string): CurlOptions => ({
    method: 'POST',
    path: `/admin/agents/${agentId ?? 'AGENT_ID'}/deployments`,
    body: { type: 'webhook', ...(prefix ? { prompt_prefix: prefix } : {}) },
  }),
  read: (trigger: TriggerRef): CurlOptions => ({ path: pathOf(trigger) }),
  enable: (trigger: TriggerRef): CurlOptions => ({ method: 'POST', path: `${pathOf(trigger)}/enable` }),
  disable: (trigger: TriggerRef): CurlOptions => ({ method: 'POST', path: `${pathOf(trigger)}/disable` }),
  delete: (trigger: TriggerRef): CurlOptions => ({ method: 'DELETE', path: pathOf(trigger) }),
  calls: (trigger: TriggerRef): CurlOptions => ({ path: `${pathOf(trigger)}/invocations` }),
};
