import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type {
  ClaimWorkResponse,
  ConnectionWork,
  WorkChannel,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { Channel, ChannelReader } from './channel-reader.ts';
import { configMessage } from './config-message.ts';
import type { ClaimedConnection } from './connection-claims.ts';
import type { ClaimedWork } from './work-claims.ts';

/** The names of agents are shown in notices, so they may be a minute old. */
const NAME_MAX_AGE_MS = 60_000;

interface WorkMessagesContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'lookUpAgents'>;
  channels: Pick<ChannelReader, 'openCredentials'>;
  sealer: PeerSealer;
  callbackUrl: (deploymentId: string) => string;
  clock: Clock;
}

export type WorkMessages = ReturnType<typeof createWorkMessages>;

/** Makes the answers to claims. Credentials are sealed for the worker that gets the lease. */
export function createWorkMessages({ agents, channels, sealer, callbackUrl, clock }: WorkMessagesContext) {
  const names = createCache<string>(clock, NAME_MAX_AGE_MS);

  async function loadName(agentId: string, userId: string, { trace, requestId }: Call): Promise<string> {
    const caller = { userId, roles: ['member'] };
    const request = { agentIds: [agentId], nameContains: '' };
    const found = await agents.lookUpAgents(request, { caller, trace, requestId });
    return found.agents[0]?.name ?? '';
  }

  /** A name that cannot be read is empty: the work does not depend on it. */
  async function nameOf({ agentId, createdBy }: Channel, call: Call): Promise<string> {
    if (agentId === '') return '';
    return names.get(agentId, () => loadName(agentId, createdBy, call)).catch(() => '');
  }

  async function channelMessage(channel: Channel, call: Call): Promise<WorkChannel> {
    const { deploymentId, agentId, provider, config, createdBy, revision, identity } = channel;
    return {
      ...{ deploymentId, agentId, provider, createdBy, revision },
      agentName: await nameOf(channel, call),
      config: configMessage(config),
      callbackUrl: callbackUrl(deploymentId),
      credentials: sealer.seal(channels.openCredentials(channel), sealedFor(call)),
      identity: identity ?? undefined,
    };
  }

  const connectionMessage =
    (call: Call) =>
    ({ resumeState, ...connection }: ClaimedConnection): ConnectionWork => ({
      ...connection,
      resumeState: resumeState && sealer.sealBytes(resumeState, sealedFor(call)),
    });

  return {
    async response(work: ClaimedWork, call: Call): Promise<ClaimWorkResponse> {
      const { conversations, deliveries, probes } = work;
      const connections = work.connections.map(connectionMessage(call));
      const channelMessages = work.channels.map((channel) => channelMessage(channel, call));
      return { channels: await Promise.all(channelMessages), connections, conversations, deliveries, probes };
    },
  };
}

function sealedFor({ peer, requestId }: Call) {
  if (requestId === undefined) throw refuse('INVALID_REQUEST', 'A claim of work needs a request id.');
  return { contract: DeploymentsServiceDefinition, method: 'claimWork', peer, requestId } as const;
}
