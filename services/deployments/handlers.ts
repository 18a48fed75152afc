import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import { callerOf, isAdministrator, onBehalf } from '../../lib/grpc/caller.ts';
import type { Call, Client, Handlers } from '../../lib/grpc/contract.ts';
import type { Recorder } from '../../lib/grpc/recorder.ts';
import { type Ids, isId } from '../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import {
  CreateDeploymentRequest,
  CreateDeploymentResponse,
  type DeploymentsServiceDefinition,
  type Deployment as Message,
} from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  checkedPage,
  type Deployment,
  deploymentImmutable,
  deploymentNotFound,
  isAddress,
  promptPrefix,
  type Status,
  webhookType,
} from './domain.ts';
import { acceptedBy } from './invocations.ts';
import type { DeploymentStore, Reach, ReadOptions } from './store/deployments.ts';
import type { RefusalStore } from './store/refusals.ts';

export interface HandlersContext {
  store: DeploymentStore & RefusalStore;
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  /** Writes down what is about to be done. */
  record: Recorder;
  clock: Clock;
  ids: Ids;
  /** A new shared secret of at least 256 random bits, as it is shown once and as it is kept. */
  newSecret: (deploymentId: string) => { shared: string; sealed: string };
  /** Where trigger URLs begin. */
  publicUrl: () => string;
  /** Tells every replica that a deployment has changed; resolves when none trusts what it knew before. */
  announce: (deploymentId: string) => Promise<void>;
}

type Methods = Omit<Handlers<DeploymentsServiceDefinition>, 'trigger'>;

/** The id of no agent. */
const NO_AGENT = `agt_${'0'.repeat(26)}`;

/** What a request names, for those it belongs to. */
type Named = { agentId: string; deploymentId: string };

interface Found {
  deployment: Deployment;
  /** How more of it is read and changed: as the service itself where it is somebody else's. */
  by: ReadOptions;
}

/** Deployments are seen and changed by who has made them and by who manages their agent; to others they are not there. */
export function createHandlers(context: HandlersContext): Methods {
  const { store, agents, sessions, record, clock, ids, newSecret, publicUrl, announce } = context;

  function show({ promptPrefix: prefix, ...deployment }: Deployment, agentName: string): Message {
    return {
      ...deployment,
      agentName,
      authenticationType: 'hmac',
      promptPrefix: prefix,
      triggerUrl: `${publicUrl()}/api/v1/deployments/${deployment.deploymentId}/trigger`,
    };
  }

  /** With the names of their agents, asked for all at once; a deleted agent has none. */
  async function showAll(deployments: Deployment[], call: Call): Promise<Message[]> {
    const agentIds = [...new Set(deployments.map((deployment) => deployment.agentId))];
    const found =
      agentIds.length > 0 ? (await agents.lookUpAgents({ agentIds, nameContains: '' }, call)).agents : [];
    const names = new Map(found.map(({ agentId, name }) => [agentId, name]));
    return deployments.map((deployment) => show(deployment, names.get(deployment.agentId) ?? ''));
  }

  async function showOne(deployment: Deployment, call: Call): Promise<{ deployment: Message | undefined }> {
    const [shown] = await showAll([deployment], call);
    return { deployment: shown };
  }

  async function find({ agentId, deploymentId }: Named, call: Call): Promise<Found> {
    const address = { agentId, deploymentId };
    if (!isAddress(address)) throw deploymentNotFound();
    const mine = onBehalf(call);
    const own = await store.find(address, mine);
    if (own) return { deployment: own, by: mine };
    const deployment = await store.find(address, call);
    // Asked also when there is none: one that they may not see takes as long as one that is not there.
    const { level } = await agents.getLevel({ agentId: deployment?.agentId ?? NO_AGENT }, call);
    // Nobody manages an agent that is deleted; administrators see also what is left of it.
    if (!deployment || (level !== 'manage' && !isAdministrator(call))) throw deploymentNotFound();
    return { deployment, by: call };
  }

  async function look(named: Named, call: Call): Promise<Found> {
    const found = await find(named, call);
    const { deploymentId } = found.deployment;
    if (isForeign(found.deployment, call))
      await record({ action: 'deployment.look', targetId: deploymentId }, call);
    return found;
  }

  /** Whose deployments a list shows. */
  async function reachOf(agentId: string, call: Call): Promise<Reach> {
    if (isAdministrator(call)) return 'all';
    const { agentIds } = agentId ? { agentIds: [agentId] } : await agents.listManagedAgents({}, call);
    if (agentId && (await agents.getLevel({ agentId }, call)).level !== 'manage') agentIds.pop();
    return { createdBy: callerOf(call).userId, agentIds };
  }

  /** Announced even if nothing seems to change: an equal request may be under way, or its answer lost. */
  async function changeStatus(named: Named, status: Status, call: Call) {
    const { deployment, by } = await find(named, call);
    const { deploymentId } = deployment;
    const action = status === 'enabled' ? 'deployment.enable' : 'deployment.disable';
    await record({ action, targetId: deploymentId }, call);
    const changed = await store.setStatus(named, status, clock.now(), by);
    if (!changed) throw deploymentNotFound();
    await announce(changed.deploymentId);
    return showOne(changed, call);
  }

  return {
    async createDeployment(request, call) {
      const { userId } = callerOf(call);
      const type = webhookType(request.type);
      const prefix = promptPrefix(request.promptPrefix);
      const { agent } = await agents.getAgent({ agentId: request.agentId }, call);
      if (agent?.level !== 'manage') throw refuse('FORBIDDEN', 'only who manages the agent may deploy it');
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
      const shown = show(deployment, agent?.name ?? '');
      const secret = newSecret(deployment.deploymentId);
      const creation = {
        deployment,
        sealedSecret: secret.sealed,
        idempotencyKey: request.idempotencyKey,
        request: CreateDeploymentRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateDeploymentResponse.encode({ deployment: shown, replayed: false }).finish(),
      };
      const { deploymentId, agentId } = deployment;
      await record(
        { action: 'deployment.create', targetId: deploymentId, data: { agent_id: agentId } },
        call,
      );
      const { answer, replayed } = await store.create(creation, onBehalf(call));
      if (!replayed) return { deployment: shown, sharedSecret: secret.shared, replayed };
      return { ...CreateDeploymentResponse.decode(answer), replayed };
    },

    async listDeployments({ page, agentId, q, type, status }, call) {
      const { limit, cursor } = checkedPage(page);
      if (agentId && !isId('agt', agentId)) await agents.getAgent({ agentId }, call);
      const reach = await reachOf(agentId, call);
      const filter = { caller: callerOf(call).userId, reach, agentId, q, type, status };
      const named = q ? (await agents.lookUpAgents({ agentIds: [], nameContains: q }, call)).agents : [];
      const namedAgents = named.map((agent) => agent.agentId);
      // Those of agents that they manage are others'.
      const by = reach === 'all' || reach.agentIds.length > 0 ? call : onBehalf(call);
      const { rows, nextCursor } = await store.list({ filter, namedAgents, limit, cursor }, by);
      if (rows.some((row) => isForeign(row, call)))
        await record({ action: 'deployments.list', targetId: agentId }, call);
      // Of an agent that is deleted there may still be deployments; one that never was is not found.
      if (rows.length === 0 && agentId) await agents.getAgent({ agentId }, call);
      return { deployments: await showAll(rows, call), page: { nextCursor } };
    },

    async getDeployment(request, call) {
      return showOne((await look(request, call)).deployment, call);
    },

    async updateDeployment(request, call) {
      await find(request, call);
      throw deploymentImmutable();
    },

    enableDeployment: (request, call) => changeStatus(request, 'enabled', call),

    disableDeployment: (request, call) => changeStatus(request, 'disabled', call),

    async deleteDeployment(request, call) {
      const { by } = await find(request, call);
      await record({ action: 'deployment.delete', targetId: request.deploymentId }, call);
      if (!(await store.remove(request, by))) throw deploymentNotFound();
      await announce(request.deploymentId);
      return {};
    },

    async listInvocations(request, call) {
      const { limit, cursor } = checkedPage(request.page);
      const { deployment, by } = await look(request, call);
      const { deploymentId } = deployment;
      const page = { caller: callerOf(call).userId, deploymentId, limit, cursor };
      const { rows, nextCursor } = await store.invocations(
        page,
        acceptedBy(sessions, deploymentId, call),
        by,
      );
      return { invocations: rows, page: { nextCursor } };
    },
  };
}

/** An administrator sees what is somebody else's. */
function isForeign({ createdBy }: Deployment, call: Call): boolean {
  return isAdministrator(call) && createdBy !== callerOf(call).userId;
}
