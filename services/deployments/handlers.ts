import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import type { AuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import { callerOf, databaseOptionsOf, isAdministrator } from '../../lib/grpc/caller.ts';
import type { Call, Client, Handlers } from '../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { type Ids, isId } from '../../lib/ids.ts';
import type { Secret } from '../../lib/secret.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import {
  CreateDeploymentRequest,
  CreateDeploymentResponse,
  DeploymentsServiceDefinition,
  type Deployment as Message,
} from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  checkedPage,
  checkPromptPrefix,
  checkWebhookType,
  type Deployment,
  deploymentImmutable,
  deploymentNotFound,
  isValidAddress,
  type Status,
} from './domain.ts';
import type { DeploymentStore, ListScope, ReadOptions } from './store/deployments.ts';
import type { AcceptedInvocationReader, RefusalStore } from './store/refusals.ts';

interface DeploymentHandlersContext {
  store: DeploymentStore & RefusalStore;
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  /** Writes an entry of the audit log before the action. */
  record: AuditRecorder;
  clock: Clock;
  ids: Ids;
  /** Creates a shared secret of at least 256 random bits: as text for the owner, and sealed for the database. */
  newSecret: (deploymentId: string) => { shared: Secret; sealed: string };
  /** Encrypts the shared secret for the caller. */
  sealer: PeerSealer;
  /** Prefix of trigger URLs. */
  publicUrl: () => string;
  /** Clears the caches of all replicas for a changed deployment. Resolves when no replica uses older data. */
  announce: (deploymentId: string) => Promise<void>;
}

type Methods = Omit<Handlers<DeploymentsServiceDefinition>, 'trigger'>;

/** A well-formed id that no agent has. */
const UNUSED_AGENT_ID = `agt_${'0'.repeat(26)}`;

/** The ids in a request. */
type DeploymentIds = { agentId: string; deploymentId: string };

interface FoundDeployment {
  deployment: Deployment;
  /** Options for further statements: for the deployment of another user, they run as the service. */
  options: ReadOptions;
}

/** Deployments are visible to their creators and to the managers of their agents. For other users they do not exist. */
export function createDeploymentHandlers(context: DeploymentHandlersContext): Methods {
  const { store, agents, sessions, record, clock, ids, newSecret, sealer, publicUrl, announce } = context;

  function toMessage({ promptPrefix: prefix, ...deployment }: Deployment, agentName: string): Message {
    return {
      ...deployment,
      agentName,
      authenticationType: 'hmac',
      promptPrefix: prefix,
      triggerUrl: `${publicUrl()}/api/v1/deployments/${deployment.deploymentId}/trigger`,
    };
  }

  /** Adds the names of the agents with one request. The name of a deleted agent is empty. */
  async function toMessages(deployments: Deployment[], call: Call): Promise<Message[]> {
    const agentIds = [...new Set(deployments.map((deployment) => deployment.agentId))];
    const found =
      agentIds.length > 0 ? (await agents.lookUpAgents({ agentIds, nameContains: '' }, call)).agents : [];
    const names = new Map(found.map(({ agentId, name }) => [agentId, name]));
    return deployments.map((deployment) => toMessage(deployment, names.get(deployment.agentId) ?? ''));
  }

  async function responseOf(
    deployment: Deployment,
    call: Call,
  ): Promise<{ deployment: Message | undefined }> {
    const [message] = await toMessages([deployment], call);
    return { deployment: message };
  }

  async function find({ agentId, deploymentId }: DeploymentIds, call: Call): Promise<FoundDeployment> {
    const address = { agentId, deploymentId };
    if (!isValidAddress(address)) throw deploymentNotFound();
    const asUser = databaseOptionsOf(call);
    const own = await store.find(address, asUser);
    if (own) return { deployment: own, options: asUser };
    const deployment = await store.find(address, call);
    // The request is sent for unknown deployments, too, so that they take as long as invisible ones.
    const { level } = await agents.getLevel({ agentId: deployment?.agentId ?? UNUSED_AGENT_ID }, call);
    // A deleted agent has no managers. Administrators still see its deployments.
    if (!deployment || (level !== 'manage' && !isAdministrator(call))) throw deploymentNotFound();
    return { deployment, options: call };
  }

  async function view(reference: DeploymentIds, call: Call): Promise<FoundDeployment> {
    const found = await find(reference, call);
    const { deploymentId } = found.deployment;
    if (isForeign(found.deployment, call))
      await record({ action: 'deployment.look', targetId: deploymentId }, call);
    return found;
  }

  async function listScopeOf(agentId: string, call: Call): Promise<ListScope> {
    if (isAdministrator(call)) return 'all';
    const { agentIds } = agentId ? { agentIds: [agentId] } : await agents.listManagedAgents({}, call);
    if (agentId && (await agents.getLevel({ agentId }, call)).level !== 'manage') agentIds.pop();
    return { createdBy: callerOf(call).userId, agentIds };
  }

  /** Clears caches even when the status is the same: an equal request may be open, or its response may be lost. */
  async function changeStatus(reference: DeploymentIds, status: Status, call: Call) {
    const { deployment, options } = await find(reference, call);
    const { deploymentId } = deployment;
    const action = status === 'enabled' ? 'deployment.enable' : 'deployment.disable';
    await record({ action, targetId: deploymentId }, call);
    const changed = await store.setStatus(reference, status, clock.now(), options);
    if (!changed) throw deploymentNotFound();
    await announce(changed.deploymentId);
    return responseOf(changed, call);
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

  return {
    async createDeployment(request, call) {
      const { userId } = callerOf(call);
      const type = checkWebhookType(request.type);
      const prefix = checkPromptPrefix(request.promptPrefix);
      const { agent } = await agents.getAgent({ agentId: request.agentId }, call);
      if (agent?.level !== 'manage') throw refuse('FORBIDDEN', 'Only managers of the agent can deploy it.');
      const now = clock.now();
      const deployment: Deployment = {
        deploymentId: ids('dep'),
        createdBy: userId,
        agentId: request.agentId,
        type,
        status: 'enabled',
        promptPrefix: prefix,
        createdAt: now,
        updatedAt: now,
      };
      const message = toMessage(deployment, agent?.name ?? '');
      const secret = newSecret(deployment.deploymentId);
      const creation = {
        deployment,
        sealedSecret: secret.sealed,
        idempotencyKey: request.idempotencyKey,
        request: CreateDeploymentRequest.encode({
          ...request,
          idempotencyKey: '',
          // A repetition can come from an edge of another release.
          acceptsSealedSecret: undefined,
        }),
        response: CreateDeploymentResponse.encode({
          deployment: message,
          replayed: false,
          sealedSharedSecret: undefined,
        }).finish(),
      };
      const { deploymentId, agentId } = deployment;
      await record(
        { action: 'deployment.create', targetId: deploymentId, data: { agent_id: agentId } },
        call,
      );
      const { answer, replayed } = await store.create(creation, databaseOptionsOf(call));
      if (!replayed) return { deployment: message, ...secretFor(request, secret.shared, call), replayed };
      return { ...CreateDeploymentResponse.decode(answer), replayed };
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
      return { deployments: await toMessages(rows, call), page: { nextCursor } };
    },

    async getDeployment(request, call) {
      return responseOf((await view(request, call)).deployment, call);
    },

    async updateDeployment(request, call) {
      await find(request, call);
      throw deploymentImmutable();
    },

    enableDeployment: (request, call) => changeStatus(request, 'enabled', call),

    disableDeployment: (request, call) => changeStatus(request, 'disabled', call),

    async deleteDeployment(request, call) {
      const { options } = await find(request, call);
      await record({ action: 'deployment.delete', targetId: request.deploymentId }, call);
      if (!(await store.remove(request, options))) throw deploymentNotFound();
      await announce(request.deploymentId);
      return {};
    },

    async listInvocations(request, call) {
      const { limit, cursor } = checkedPage(request.page);
      const { deployment, options } = await view(request, call);
      const { deploymentId } = deployment;
      const page = { caller: callerOf(call).userId, deploymentId, limit, cursor };
      const { rows, nextCursor } = await store.invocations(page, readAccepted(deploymentId, call), options);
      return { invocations: rows, page: { nextCursor } };
    },
  };
}

/** Whether an administrator sees the deployment of another user. */
function isForeign({ createdBy }: Deployment, call: Call): boolean {
  return isAdministrator(call) && createdBy !== callerOf(call).userId;
}
