import type { DeploymentRef } from '../../api/deployments.ts';
import { type CurlOptions, pathWithQuery } from '../../parts/curl/curl.ts';
import type { DeploymentsSearch } from './search.ts';

export const pathOf = ({ agent_id: agentId, deployment_id: id }: DeploymentRef) =>
  `/admin/agents/${agentId}/deployments/${id}`;

/** API requests of the deployment pages, for curl commands. */
export const requests = {
  list: (filters: DeploymentsSearch): CurlOptions => ({ path: pathWithQuery('/admin/deployments', filters) }),
  create: (agentId: string | undefined, body: object): CurlOptions => ({
    method: 'POST',
    path: `/admin/agents/${agentId ?? 'AGENT_ID'}/deployments`,
    body,
  }),
  createWebhook: (agentId: string | undefined, prefix: string): CurlOptions =>
    requests.create(agentId, { type: 'webhook', ...(prefix ? { prompt_prefix: prefix } : {}) }),
  read: (deployment: DeploymentRef): CurlOptions => ({ path: pathOf(deployment) }),
  enable: (deployment: DeploymentRef): CurlOptions => ({
    method: 'POST',
    path: `${pathOf(deployment)}/enable`,
  }),
  disable: (deployment: DeploymentRef): CurlOptions => ({
    method: 'POST',
    path: `${pathOf(deployment)}/disable`,
  }),
  delete: (deployment: DeploymentRef): CurlOptions => ({ method: 'DELETE', path: pathOf(deployment) }),
  run: (deployment: DeploymentRef): CurlOptions => ({ method: 'POST', path: `${pathOf(deployment)}/run` }),
  runs: (deployment: DeploymentRef): CurlOptions => ({ path: `${pathOf(deployment)}/runs` }),
  backfills: (deployment: DeploymentRef): CurlOptions => ({ path: `${pathOf(deployment)}/backfills` }),
  setup: (deployment: DeploymentRef): CurlOptions => ({ path: `${pathOf(deployment)}/setup` }),
  probe: (deployment: DeploymentRef): CurlOptions => ({
    method: 'POST',
    path: `${pathOf(deployment)}/probe`,
  }),
  deliveries: (deployment: DeploymentRef, result?: string): CurlOptions => ({
    path: pathWithQuery(`${pathOf(deployment)}/deliveries`, { result }),
  }),
  conversations: (deployment: DeploymentRef): CurlOptions => ({
    path: `${pathOf(deployment)}/conversations`,
  }),
  posts: (deployment: DeploymentRef, state?: string): CurlOptions => ({
    path: pathWithQuery(`${pathOf(deployment)}/posts`, { state }),
  }),
  resend: (deployment: DeploymentRef, postId: string): CurlOptions => ({
    method: 'POST',
    path: `${pathOf(deployment)}/posts/${postId}/resend`,
  }),
  links: (deployment: DeploymentRef): CurlOptions => ({ path: `${pathOf(deployment)}/links` }),
  endLink: (deployment: DeploymentRef, linkId: string): CurlOptions => ({
    method: 'DELETE',
    path: `${pathOf(deployment)}/links/${linkId}`,
  }),
  calls: (deployment: DeploymentRef): CurlOptions => ({ path: `${pathOf(deployment)}/invocations` }),
};
