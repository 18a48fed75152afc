import type { Clock } from '../../../lib/clock.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Deployment as Message } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { ScheduleStatus } from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import type { Connection } from '../domain/channels/connection.ts';
import type { Deployment, DeploymentType } from '../domain/deployments.ts';
import type { ScheduleTimes } from '../schedules/schedule-times.ts';
import type { ChannelDeployment, ChannelStore } from '../store/channels.ts';
import type { ConnectionStore } from '../store/connections.ts';
import type { ReadOptions } from '../store/deployments.ts';
import type { RunStore } from '../store/runs.ts';
import type { ScheduledDeployment, ScheduleStore } from '../store/schedules.ts';
import { callbackUrlOf, channelMessage } from './channels/channel-messages.ts';
import { settingsMessage } from './schedule-messages.ts';

/** Times that a single schedule shows. */
const UPCOMING = 5;

interface DeploymentMessagesContext {
  agents: Client<AgentsServiceDefinition>;
  schedules: Pick<ScheduleStore, 'byIds'>;
  runs: Pick<RunStore, 'last'>;
  times: ScheduleTimes;
  channels: Pick<ChannelStore, 'byIds'>;
  connections: Pick<ConnectionStore, 'byIds'>;
  clock: Clock;
  /** Prefix of trigger and callback URLs. */
  publicUrl: () => string;
}

export type DeploymentMessages = ReturnType<typeof createDeploymentMessages>;

/** Converts deployments into messages. */
export function createDeploymentMessages(context: DeploymentMessagesContext) {
  const { agents, schedules, runs, times, channels, connections, clock, publicUrl } = context;

  function webhook(deployment: Deployment, agentName: string): Message {
    return {
      ...deployment,
      agentName,
      authenticationType: 'hmac',
      triggerUrl: `${publicUrl()}/api/v1/deployments/${deployment.deploymentId}/trigger`,
      schedule: undefined,
      scheduleStatus: undefined,
    };
  }

  function schedule(
    { deployment, schedule: stored }: ScheduledDeployment,
    agentName: string,
    status: Pick<ScheduleStatus, 'upcoming' | 'lastRun'>,
  ): Message {
    const { settings, createdSessionId, pausedReason, nextAt } = stored;
    return {
      ...deployment,
      agentName,
      authenticationType: '',
      triggerUrl: '',
      schedule: settingsMessage(settings, createdSessionId),
      scheduleStatus: { ...status, pausedReason: pausedReason ?? '', nextAt: nextAt ?? undefined },
    };
  }

  function channel(
    { deployment, channel: stored }: ChannelDeployment,
    agentName: string,
    connection: Connection,
  ): Message {
    const callbackUrl = callbackUrlOf(publicUrl(), deployment.deploymentId);
    return {
      ...deployment,
      agentName,
      authenticationType: '',
      triggerUrl: '',
      schedule: undefined,
      scheduleStatus: undefined,
      channel: channelMessage(stored, connection, callbackUrl, clock.now()),
    };
  }

  /** The channels among the deployments by id. One that was deleted meanwhile has none. */
  async function channelMessages(
    deployments: readonly Deployment[],
    names: ReadonlyMap<string, string>,
    options: ReadOptions,
  ): Promise<Map<string, Message>> {
    const ids = idsOf(deployments, 'channel');
    const [stored, states] = await Promise.all([
      channels.byIds(ids, options),
      connections.byIds(ids, options),
    ]);
    const connectionById = new Map(states.map((one) => [one.deploymentId, one]));
    const deploymentById = new Map(deployments.map((one) => [one.deploymentId, one]));
    return new Map(
      stored.flatMap((one): [string, Message][] => {
        const { deploymentId } = one;
        const deployment = deploymentById.get(deploymentId);
        const connection = connectionById.get(deploymentId);
        if (!deployment || !connection) return [];
        const name = names.get(deployment.agentId) ?? '';
        return [[deploymentId, channel({ deployment, channel: one }, name, connection)]];
      }),
    );
  }

  /** The name of a deleted agent is empty. */
  async function agentNames(deployments: readonly Deployment[], call: Call): Promise<Map<string, string>> {
    const agentIds = [...new Set(deployments.map((deployment) => deployment.agentId))];
    const found =
      agentIds.length > 0 ? (await agents.lookUpAgents({ agentIds, nameContains: '' }, call)).agents : [];
    return new Map(found.map(({ agentId, name }) => [agentId, name]));
  }

  /** Only a single schedule has its next times. */
  async function all(
    deployments: readonly Deployment[],
    call: Call,
    options: ReadOptions,
    upcomingTimes: number,
  ): Promise<Message[]> {
    const names = await agentNames(deployments, call);
    const ids = idsOf(deployments, 'schedule');
    const [stored, lastRuns, channelById] = await Promise.all([
      schedules.byIds(ids, options),
      runs.last(ids, options),
      channelMessages(deployments, names, options),
    ]);
    const scheduleById = new Map(stored.map((one) => [one.deploymentId, one]));
    const lastById = new Map(lastRuns.map((one) => [one.deploymentId, one]));
    return deployments.flatMap((deployment) => {
      const { deploymentId, agentId } = deployment;
      const name = names.get(agentId) ?? '';
      if (deployment.type === 'webhook') return [webhook(deployment, name)];
      if (deployment.type === 'channel') return channelById.get(deploymentId) ?? [];
      const found = scheduleById.get(deploymentId);
      // The schedule was deleted after its deployment was read.
      if (!found) return [];
      const last = lastById.get(deploymentId);
      const lastRun = last && {
        ...last,
        scheduledFor: last.scheduledFor ?? undefined,
        sessionId: last.sessionId ?? '',
      };
      const pair = { deployment, schedule: found };
      return [schedule(pair, name, { upcoming: times.pending(pair, upcomingTimes), lastRun })];
    });
  }

  return {
    webhook,
    /** A channel without events. */
    newChannel: channel,
    /** A schedule without runs. */
    newSchedule: (pair: ScheduledDeployment, agentName: string): Message =>
      schedule(pair, agentName, { upcoming: times.pending(pair, UPCOMING), lastRun: undefined }),

    /** Adds the names of the agents with one request. */
    list: (deployments: readonly Deployment[], call: Call, options: ReadOptions): Promise<Message[]> =>
      all(deployments, call, options, 0),

    async response(deployment: Deployment, call: Call, options: ReadOptions) {
      const [message] = await all([deployment], call, options, UPCOMING);
      return { deployment: message };
    },
  };
}

function idsOf(deployments: readonly Deployment[], ofType: DeploymentType): string[] {
  return deployments.filter(({ type }) => type === ofType).map(({ deploymentId }) => deploymentId);
}
