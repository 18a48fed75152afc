import { refuse } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { Secret } from '../../../lib/secret.ts';
import {
  CreateDeploymentRequest,
  CreateDeploymentResponse,
  DeploymentsServiceDefinition,
  type Deployment as Message,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import {
  checkDeploymentType,
  checkedPage,
  type Deployment,
  deploymentNotFound,
  type Status,
} from '../domain/deployments.ts';
import { checkMetadata, checkName, checkSettings } from '../domain/schedules/check.ts';
import { refuseSchedule } from '../domain/schedules/refusal.ts';
import { checkPromptPrefix, requireNoRevisions } from '../domain/webhooks.ts';
import type { ListScope } from '../store/deployments.ts';
import type { AcceptedInvocationReader } from '../store/refusals.ts';
import { type DeploymentIds, isForeign } from './access.ts';
import type { DeploymentsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  | 'createDeployment'
  | 'listDeployments'
  | 'getDeployment'
  | 'enableDeployment'
  | 'disableDeployment'
  | 'deleteDeployment'
  | 'listInvocations'
>;

/** Deployments of one agent. */
const MAX_DEPLOYMENTS = 10_000;

export function deploymentHandlers(context: DeploymentsHandlerContext): Methods {
  const { store, schedules, access, messages, changes, agents, sessions, record, clock, ids } = context;
  const { sessionCheck, limits, newSecret, sealer, announce, wakeTickers, fireDue } = context;

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
    const changed = await store.setStatus(reference, status, clock.now(), options);
    if (!changed) throw deploymentNotFound();
    await announce(changed.deploymentId);
    return messages.response(changed, call, options);
  }

  /** Reads the accepted invocations of a deployment: the sessions that it started. */
  function readAccepted(deploymentId: string, call: Call): AcceptedInvocationReader {
    return async (beforeInvocationId, limit) => {
      const page = await sessions.listDeploymentSessions({ deploymentId, beforeInvocationId, limit }, call);
      return page.sessions.map((session) => ({ ...session, result: 'accepted', reason: '', count: 1 }));
    };
  }

  /** Callers of the previous release cannot open a sealed secret. */
  function secretFor({ acceptsSealedSecret }: CreateDeploymentRequest, shared: Secret, call: Call) {
    if (!acceptsSealedSecret) return { sharedSecret: shared.reveal(), sealedSharedSecret: undefined };
    const sealed = { contract: DeploymentsServiceDefinition, method: 'createDeployment', ...call } as const;
    return { sealedSharedSecret: sealer.seal({ shared_secret: shared }, sealed) };
  }

  /** The parts that differ between the types. The last one writes the schedule. */
  async function detailsOf(request: CreateDeploymentRequest, deployment: Deployment, call: Call) {
    const { settings, agentName } = await checkedRequest(request, deployment, call);
    if (settings === undefined) {
      const secret = newSecret(deployment.deploymentId);
      return {
        message: messages.webhook(deployment, agentName),
        sealedSecret: secret.sealed,
        secretMembers: secretFor(request, secret.shared, call),
        insertDetails: undefined,
      };
    }
    const schedule = changes.create(deployment, settings);
    return {
      message: messages.newSchedule({ deployment, schedule }, agentName),
      sealedSecret: null,
      secretMembers: { sealedSharedSecret: undefined },
      insertDetails: (tx: Parameters<typeof schedules.insert>[0]) =>
        schedules.insert(tx, schedule, deployment.createdBy),
    };
  }

  async function checkedRequest(
    { agentId, schedule }: CreateDeploymentRequest,
    { type, createdAt, createdBy }: Deployment,
    call: Call,
  ) {
    if (type === 'schedule' && !schedule) throw refuseSchedule('', 'must have the settings of a schedule');
    const settings = type === 'schedule' && schedule ? checkSettings(schedule, createdAt, limits) : undefined;
    const { agent } = await agents.getAgent({ agentId }, call);
    if (agent?.level !== 'manage') throw refuse('FORBIDDEN', 'Only managers of the agent can deploy it.');
    if (settings?.sessionId) await sessionCheck(settings.sessionId, { ownerId: createdBy, agentId }, call);
    if ((await store.countOfAgent(agentId, MAX_DEPLOYMENTS, call)) >= MAX_DEPLOYMENTS)
      throw refuse(
        'QUOTA_EXCEEDED',
        `The agent has ${MAX_DEPLOYMENTS} deployments, which is the limit. Delete one first.`,
      );
    return { settings, agentName: agent.name };
  }

  function newDeployment(request: CreateDeploymentRequest, call: Call): Deployment {
    const { userId } = callerOf(call);
    const type = checkDeploymentType(request.type);
    const isSchedule = type === 'schedule';
    if (isSchedule) checkMetadata(request.metadata);
    const now = clock.now();
    return {
      deploymentId: ids('dep'),
      createdBy: userId,
      agentId: request.agentId,
      type,
      status: 'enabled',
      promptPrefix: isSchedule ? undefined : checkPromptPrefix(request.promptPrefix),
      name: isSchedule ? checkName(request.name) : '',
      metadata: isSchedule ? request.metadata : {},
      revision: isSchedule ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    };
  }

  function encodedResponse(deployment: Message): Uint8Array {
    return CreateDeploymentResponse.encode({
      deployment,
      replayed: false,
      sealedSharedSecret: undefined,
    }).finish();
  }

  return {
    async createDeployment(request, call) {
      const deployment = newDeployment(request, call);
      const { message, sealedSecret, secretMembers, insertDetails } = await detailsOf(
        request,
        deployment,
        call,
      );
      const creation = {
        deployment,
        sealedSecret,
        insertDetails,
        idempotencyKey: request.idempotencyKey,
        request: CreateDeploymentRequest.encode({
          ...request,
          idempotencyKey: '',
          // A repetition can come from an edge of another release.
          acceptsSealedSecret: undefined,
        }),
        response: encodedResponse(message),
      };
      const { deploymentId, agentId } = deployment;
      await record(
        { action: 'deployment.create', targetId: deploymentId, data: { agent_id: agentId } },
        call,
      );
      const { answer, replayed } = await store.create(creation, databaseOptionsOf(call));
      if (replayed) return { ...CreateDeploymentResponse.decode(answer), replayed };
      if (deployment.type === 'schedule') wakeTickers(deploymentId);
      return { deployment: message, ...secretMembers, replayed };
    },

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
      if (!(await store.remove(request, check, options))) throw deploymentNotFound();
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
