import { callerOf, databaseOptionsOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { checkedPage, type Deployment, deploymentNotFound, type Status } from '../domain/deployments.ts';
import { requireNoRevisions } from '../domain/webhooks.ts';
import type { DeploymentRemoval, ListScope } from '../store/deployments.ts';
import type { AcceptedInvocationReader } from '../store/refusals.ts';
import { type DeploymentIds, isForeign } from './access.ts';
import type { DeploymentsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  | 'listDeployments'
  | 'getDeployment'
  | 'enableDeployment'
  | 'disableDeployment'
  | 'deleteDeployment'
  | 'listInvocations'
>;

export function deploymentHandlers(context: DeploymentsHandlerContext): Methods {
  const { store, schedules, channels, access, messages, changes, channelChanges, refreshBots } = context;
  const { agents, sessions, record, clock, announce, wakeTickers, wakeWorkers, fireDue } = context;

  async function listScopeOf(agentId: string, call: Call): Promise<ListScope> {
    if (isAdministrator(call)) return 'all';
    const { agentIds } = agentId ? { agentIds: [agentId] } : await agents.listManagedAgents({}, call);
    if (agentId && (await agents.getLevel({ agentId }, call)).level !== 'manage') agentIds.pop();
    return { createdBy: callerOf(call).userId, agentIds };
  }

  /** Clears caches even when the status is the same: an equal request may be open, or its response may be lost. */
  async function changeStatus(reference: DeploymentIds, status: Status, call: Call) {
    const { deployment, options } = await access.find(reference, call);
    const { deploymentId } = deployment;
    const action = status === 'enabled' ? 'deployment.enable' : 'deployment.disable';
    await record({ action, targetId: deploymentId }, call);
    if (deployment.type === 'schedule') {
      if (status === 'disabled') await fireDue(deploymentId);
      const changed = await schedules.change(
        deploymentId,
        (current) => changes.setStatus(current, status),
        clock.now(),
        options,
      );
      if (!changed) throw deploymentNotFound();
      wakeTickers(deploymentId);
      return messages.response(changed.deployment, call, options);
    }
    if (deployment.type === 'channel') {
      const [channel] = await channels.byIds([deploymentId], options);
      if (channel && status === 'enabled') await refreshBots(channel.provider, call);
      const changed = await channels.change(
        deploymentId,
        (current) => channelChanges.setStatus(current, status),
        options,
      );
      if (!changed) throw deploymentNotFound();
      wakeWorkers(deploymentId);
      await announce(deploymentId);
      return messages.response(changed.deployment, call, options);
    }
    const changed = await store.setStatus(reference, status, clock.now(), options);
    if (!changed) throw deploymentNotFound();
    await announce(changed.deploymentId);
    return messages.response(changed, call, options);
  }

  /** A channel is removed from its product after its deployment is deleted. */
  function removalOf({ type, deploymentId }: Deployment): DeploymentRemoval | undefined {
    return type === 'channel' ? (tx) => channels.disconnect(tx, deploymentId, clock.now()) : undefined;
  }

  /** Reads the accepted invocations of a deployment: the sessions that it started. */
  function readAccepted(deploymentId: string, call: Call): AcceptedInvocationReader {
    return async (beforeInvocationId, limit) => {
      const page = await sessions.listDeploymentSessions({ deploymentId, beforeInvocationId, limit }, call);
      return page.sessions.map((session) => ({ ...session, result: 'accepted', reason: '', count: 1 }));
    };
  }

  return {
    async listDeployments({ page, agentId, q, type, status }, call) {
      const { limit, cursor } = checkedPage(page);
      if (agentId && !isId('agt', agentId)) await agents.getAgent({ agentId }, call);
      const scope = await listScopeOf(agentId, call);
      const filter = { caller: callerOf(call).userId, scope, agentId, q, type, status };
      const matching = q ? (await agents.lookUpAgents({ agentIds: [], nameContains: q }, call)).agents : [];
      const namedAgents = matching.map((agent) => agent.agentId);
      // The agents that a user manages can have deployments of other users.
      const options = scope === 'all' || scope.agentIds.length > 0 ? call : databaseOptionsOf(call);
      const { rows, nextCursor } = await store.list({ filter, namedAgents, limit, cursor }, options);
      if (rows.some((row) => isForeign(row, call)))
        await record({ action: 'deployments.list', targetId: agentId }, call);
      // A deleted agent can still have deployments. An unknown agent returns AGENT_NOT_FOUND.
      if (rows.length === 0 && agentId) await agents.getAgent({ agentId }, call);
      return { deployments: await messages.list(rows, call, options), page: { nextCursor } };
    },

    async getDeployment(request, call) {
      const { deployment, options } = await access.view(request, call);
      return messages.response(deployment, call, options);
    },

    enableDeployment: (request, call) => changeStatus(request, 'enabled', call),

    disableDeployment: (request, call) => changeStatus(request, 'disabled', call),

    async deleteDeployment({ ifRevisions, ...request }, call) {
      const { deployment, options } = await access.find(request, call);
      const check = ({ type, revision }: Deployment) => {
        if (type !== 'webhook') return checkRevision(type, revision, ifRevisions);
        requireNoRevisions(ifRevisions);
      };
      check(deployment);
      await record({ action: 'deployment.delete', targetId: request.deploymentId }, call);
      if (!(await store.remove(request, check, removalOf(deployment), options))) throw deploymentNotFound();
      if (deployment.type === 'channel') wakeWorkers(request.deploymentId);
      await announce(request.deploymentId);
      return {};
    },

    async listInvocations(request, call) {
      const { limit, cursor } = checkedPage(request.page);
      const { deployment, options } = await access.view(request, call);
      const { deploymentId } = deployment;
      const page = { caller: callerOf(call).userId, deploymentId, limit, cursor };
      const { rows, nextCursor } = await store.invocations(page, readAccepted(deploymentId, call), options);
      return { invocations: rows, page: { nextCursor } };
    },
  };
}
