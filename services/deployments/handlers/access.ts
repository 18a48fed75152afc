import { refuse } from '../../../lib/errors.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import { callerOf, databaseOptionsOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type Deployment, deploymentNotFound, isValidAddress } from '../domain/deployments.ts';
import type { ChannelStore, StoredChannel } from '../store/channels.ts';
import type { DeploymentStore, ReadOptions } from '../store/deployments.ts';
import type { ScheduleStore, StoredSchedule } from '../store/schedules.ts';

/** A well-formed id that no agent has. */
const UNUSED_AGENT_ID = `agt_${'0'.repeat(26)}`;

/** The ids in a request. */
export interface DeploymentIds {
  agentId: string;
  deploymentId: string;
}

export interface FoundDeployment {
  deployment: Deployment;
  /** Options for further statements: for the deployment of another user, they run as the service. */
  options: ReadOptions;
}

export interface FoundSchedule extends FoundDeployment {
  schedule: StoredSchedule;
}

export interface FoundChannel extends FoundDeployment {
  channel: StoredChannel;
}

interface DeploymentAccessContext {
  store: Pick<DeploymentStore, 'find'>;
  schedules: Pick<ScheduleStore, 'byIds'>;
  channels: Pick<ChannelStore, 'byIds'>;
  agents: Client<AgentsServiceDefinition>;
  record: AuditRecorder;
}

export type DeploymentAccess = ReturnType<typeof createDeploymentAccess>;

/** Deployments are visible to their creators and to the managers of their agents. For other users they do not exist. */
export function createDeploymentAccess(context: DeploymentAccessContext) {
  const { store, schedules, channels, agents, record } = context;

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

  async function scheduleOf(found: FoundDeployment): Promise<FoundSchedule> {
    if (found.deployment.type !== 'schedule')
      throw refuse('NOT_A_SCHEDULE', `The deployment is a ${found.deployment.type}, not a schedule.`);
    const [schedule] = await schedules.byIds([found.deployment.deploymentId], found.options);
    if (!schedule) throw deploymentNotFound();
    return { ...found, schedule };
  }

  async function channelOf(found: FoundDeployment): Promise<FoundChannel> {
    if (found.deployment.type !== 'channel')
      throw refuse('NOT_A_CHANNEL', `The deployment is a ${found.deployment.type}, not a channel.`);
    const [channel] = await channels.byIds([found.deployment.deploymentId], found.options);
    if (!channel) throw deploymentNotFound();
    return { ...found, channel };
  }

  return {
    find,
    /** Records the access of an administrator to the deployment of another user. */
    view,
    /** Both refuse another type with NOT_A_SCHEDULE. */
    findSchedule: async (reference: DeploymentIds, call: Call) => scheduleOf(await find(reference, call)),
    viewSchedule: async (reference: DeploymentIds, call: Call) => scheduleOf(await view(reference, call)),
    /** Both refuse another type with NOT_A_CHANNEL. */
    findChannel: async (reference: DeploymentIds, call: Call) => channelOf(await find(reference, call)),
    viewChannel: async (reference: DeploymentIds, call: Call) => channelOf(await view(reference, call)),
  };
}

/** Whether an administrator sees the deployment of another user. */
export function isForeign({ createdBy }: Deployment, call: Call): boolean {
  return isAdministrator(call) && createdBy !== callerOf(call).userId;
}
