import { systemRandom } from '../../../lib/backoff.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission } from '../admission.ts';
import type { ChannelWorkStores } from '../store/channel-work-stores.ts';
import { createAccountUsers } from './accounts.ts';
import type { ChannelReader } from './channel-reader.ts';
import type { ConnectionClaims } from './connection-claims.ts';
import { createDecisions } from './decisions.ts';
import { createDeliveryClaims } from './delivery-claims.ts';
import { createDeliveryResults } from './delivery-results.ts';
import { createEmailUsers } from './email-users.ts';
import { createPostCounter } from './metrics.ts';
import type { ChannelInbox } from './open-inbox.ts';
import type { MovePlaces } from './place-moves.ts';
import { createPostNotes } from './post-notes.ts';
import { createPulls } from './pulls.ts';
import { createReplyTargets } from './reply-targets.ts';
import { createChannelSignals } from './session-signals.ts';
import { createChannelUsers } from './users.ts';
import type { Verification } from './verification.ts';
import { createWorkClaims } from './work-claims.ts';
import { createWorkHints } from './work-hints.ts';
import { createWorkMessages } from './work-messages.ts';
import { createWorkerPresence } from './worker-presence.ts';

interface ChannelWorkContext extends Pick<Parameters<typeof createWorkMessages>[0], 'callbackUrl'> {
  stores: ChannelWorkStores;
  agents: Client<AgentsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  admission: Admission;
  channelReader: ChannelReader;
  claims: ConnectionClaims;
  record: AuditRecorder;
  sealer: PeerSealer;
  publicUrl: () => string;
  verification: Verification;
  inbox: Pick<ChannelInbox, 'count' | 'logUnused'>;
  movePlaces: MovePlaces;
}

export type ChannelWork = ReturnType<typeof createChannelWork>;

/** The work on conversations, deliveries, posts and links that channel workers and users cause. */
export function createChannelWork(
  { bus, clock, ids, log, metrics }: ServiceContext,
  {
    stores,
    agents,
    auth,
    sessions,
    admission,
    channelReader,
    claims,
    record,
    sealer,
    ...rest
  }: ChannelWorkContext,
) {
  const { publicUrl, callbackUrl, verification, inbox, movePlaces } = rest;
  const { deliveries, conversationWork, posts, noteStore, links } = stores;
  const users = createChannelUsers({ agents, auth, bus, clock });
  const accounts = createAccountUsers({
    ...{ links, record, clock, ids },
    userOfEmail: createEmailUsers({ auth, clock }),
  });
  const workHints = createWorkHints(bus, clock, ['channels.work', 'channels.changed', 'deployments.changed']);
  const pullHints = createWorkHints(bus, clock, ['channels.posts']);
  const wakeWork = (deploymentId: string) => bus.publish('channels.work', deploymentId);
  const warn = (error: unknown) =>
    log.warn({ err: error }, 'the sender of a delivery could not be checked; it is claimed again');
  const deliveryClaims = createDeliveryClaims({ deliveries, accounts, users, admission, warn });
  const deliveryResults = createDeliveryResults({
    ...{ deliveries, links, record, publicUrl, clock, ids },
    store: stores.results,
    channels: channelReader,
    wakeWorkers: wakeWork,
    count: inbox.count,
    random: systemRandom,
  });
  return {
    conversations: stores.conversations,
    workerPresence: createWorkerPresence({ store: stores.workers, clock }),
    ...{ posts, noteStore, links, conversationWork, deliveryResults, wakeWork },
    workClaims: createWorkClaims({
      ...{ posts, clock },
      store: stores.work,
      connections: claims,
      conversations: conversationWork,
      deliveries: deliveryClaims,
      channels: channelReader,
      hints: workHints,
    }),
    workMessages: createWorkMessages({ agents, channels: channelReader, sealer, callbackUrl, clock }),
    decisions: createDecisions({ results: deliveryResults, accounts, users, deliveries, posts, sessions }),
    postNotes: createPostNotes({
      ...{ clock, ids },
      store: noteStore,
      channels: channelReader,
      replyTargets: createReplyTargets({ deliveries }),
      movePlaces,
      leaveThread: stores.movedPlaces.leaveThread,
      wakePulls: (deploymentId) => bus.publish('channels.posts', deploymentId),
      count: createPostCounter(metrics),
    }),
    pulls: createPulls({
      ...{ posts, verification, clock },
      channels: channelReader,
      logUnused: inbox.logUnused,
      hints: pullHints,
    }),
    engageConversations: createChannelSignals({
      store: conversationWork,
      wakeWorkers: () => wakeWork(''),
      clock,
    }),

    /** Ends the calls that wait, and resolves when they use the database no more. */
    async close(): Promise<void> {
      await Promise.all([workHints.close(), pullHints.close()]);
      users.close();
    },
  };
}
