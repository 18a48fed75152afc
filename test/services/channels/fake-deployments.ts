import { wait } from '../../../lib/clock.ts';
import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type ClaimWorkRequest,
  type ConnectionWork,
  type ConversationWork,
  type DecideFromChannelResponse,
  type DeliveryWork,
  type FinishDeliveryRequest,
  InboundEvent,
  type LeaseReference,
  type NotePostsRequest,
  type PostNote,
  type PostState,
  type ProbeWork,
  type ReleaseLeaseRequest,
  type ReportConnectionRequest,
  type ReportProbeRequest,
  type WorkChannel,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ChannelConfig } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { fakeService } from '../../support/fake-service.ts';

/** The contract of deployments for channel workers, in memory: each queued piece of work is handed out once. */
export interface FakeDeployments {
  client: Client<typeof DeploymentsServiceDefinition>;
  connections: ConnectionWork[];
  conversations: ConversationWork[];
  deliveries: DeliveryWork[];
  probes: ProbeWork[];
  claims: ClaimWorkRequest[];
  finished: FinishDeliveryRequest[];
  notes: NotePostsRequest[];
  released: ReleaseLeaseRequest[];
  connectionReports: ReportConnectionRequest[];
  /** The next reports of connections are refused with these. */
  reportRefusals: Refusal[];
  probeReports: ReportProbeRequest[];
  /** The committed events, and the opened resume state. */
  accepted: { eventsJson: string[]; resumeState: string | undefined }[];
  /** The bots that received the committed events. */
  receivers: (string | undefined)[];
  /** Events are committed after it has resolved. */
  beforeAccept: () => Promise<void>;
  /** The leases of the last renewal. */
  renewed: LeaseReference[];
  /** Leases that the next renewals report as lost, by conversation. */
  readonly lost: Set<string>;
  /** Calls with this fence are refused with LEASE_LOST. */
  lostFence: number;
  decision: DecideFromChannelResponse;
  linkNotice: string;
  /** The message that began the turn of each new post. */
  replyTo: string;
  /** Posts by identity. */
  readonly posts: Map<string, PostState>;
}

export const CONFIG: ChannelConfig = {
  mode: 'pull',
  respondTo: 'mentions',
  access: undefined,
  owner: 'creator',
  approvers: undefined,
  busy: 'enqueue',
  edits: 'edit',
  showTools: 'status',
  perChat: true,
  filesIn: true,
  filesOut: true,
  trustEmail: false,
  newSessionAfterIdleSeconds: undefined,
  greeting: undefined,
};

export const PLACE = { place: 'room', thread: '', isGroup: false };

export function deliveryWork(event: Partial<InboundEvent>, work: Partial<DeliveryWork> = {}): DeliveryWork {
  return {
    deliveryId: 'dlv_01JDELIVERY0000000000000A1',
    deploymentId: 'dep_1',
    fence: 1,
    attempts: 1,
    conversation: 'room',
    place: PLACE,
    event: {
      ...InboundEvent.decode(new Uint8Array()),
      kind: 'message',
      place: PLACE,
      senderId: 'U1',
      senderName: 'Ada',
      ...event,
    },
    userId: 'usr_1',
    accessRefusal: '',
    ownerId: 'usr_1',
    sessionId: '',
    agentVersion: 3,
    isApprover: false,
    traceparent: '',
    ...work,
  };
}

export function conversationWork(work: Partial<ConversationWork> = {}): ConversationWork {
  return {
    deploymentId: 'dep_1',
    conversation: 'room',
    fence: 1,
    sessionId: 'ses_1',
    ownerId: 'usr_1',
    toldSeq: 0,
    place: PLACE,
    posts: [],
    ...work,
  };
}

export function postState(state: Partial<PostState>): PostState {
  return {
    ...{ postId: 'pst_1', turnId: '', kind: 'notice', part: 0, key: '', state: 'wanted', externalId: '' },
    ...{
      shownSha256: '',
      revision: 1,
      attempts: 0,
      nextAt: undefined,
      text: '',
      privateTo: '',
      replyTo: '',
      replyToPlace: '',
    },
    ...state,
  };
}

export function createFakeDeployments(
  context: Pick<ServiceContext, 'serviceSecret' | 'clock'>,
  channel: Partial<WorkChannel> = {},
): FakeDeployments {
  const sealer = createPeerSealer('deployments', context.serviceSecret);
  const take = <Item>(items: Item[], count: number) => items.splice(0, count);
  const check = ({ fence }: { fence: number }) => {
    if (fence === fake.lostFence) throw refuse('LEASE_LOST', 'another worker holds the lease');
  };

  function channelFor(requestId: string | undefined): WorkChannel {
    const call = {
      contract: DeploymentsServiceDefinition,
      method: 'claimWork',
      peer: 'channels',
      requestId,
    } as const;
    return {
      ...{ deploymentId: 'dep_1', agentId: 'agt_1', agentName: 'Echo', provider: 'http', config: CONFIG },
      ...{ createdBy: 'usr_1', revision: 1, identity: undefined },
      callbackUrl: 'https://agents.example.com/api/v1/deployments/dep_1/callback',
      credentials: sealer.seal({ shared_secret: 'a shared secret' }, call),
      ...channel,
    };
  }

  function store(note: PostNote): PostState {
    const key = note.postId || [note.turnId, note.kind, note.part, note.key].join(' ');
    const known =
      fake.posts.get(key) ?? postState({ ...note, postId: note.postId || `pst_${fake.posts.size + 1}` });
    const isNew =
      ![known.shownSha256, note.shownSha256].includes('') && known.shownSha256 !== note.shownSha256;
    const stored = {
      ...known,
      state: note.state,
      revision: known.revision + (isNew ? 1 : 0),
      externalId: note.externalId || known.externalId,
      replyTo: note.state === 'posting' ? fake.replyTo : '',
      replyToPlace: note.state === 'posting' && fake.replyTo !== '' ? PLACE.place : '',
      shownSha256: note.shownSha256 || known.shownSha256,
    };
    fake.posts.set(key, stored);
    fake.posts.set(stored.postId, stored);
    return stored;
  }

  const client = fakeService(
    DeploymentsServiceDefinition,
    {
      async claimWork(request, call) {
        fake.claims.push(request);
        for (;;) {
          const work = {
            connections: take(fake.connections, request.connections),
            conversations: take(fake.conversations, request.conversations),
            deliveries: take(fake.deliveries, request.deliveries),
            probes: take(fake.probes, 10),
          };
          const hasWork = Object.values(work).some(({ length }) => length > 0);
          if (hasWork) return { ...work, channels: [channelFor(call.requestId)] };
          await wait(context.clock, 5, call.signal);
          if (call.signal.aborted) throw refuse('CANCELLED', 'the caller has left');
        }
      },
      async renewLeases({ leases }) {
        fake.renewed = leases;
        return { lost: leases.filter(({ conversation }) => fake.lost.has(conversation)) };
      },
      async releaseLease(request) {
        fake.released.push(request);
        return {};
      },
      async finishDelivery(request) {
        check(request);
        fake.finished.push(request);
        return { linkNotice: fake.linkNotice };
      },
      async notePosts(request) {
        check(request);
        fake.notes.push(request);
        return { posts: request.posts.map(store) };
      },
      async reportConnection(request) {
        check(request);
        const refusal = fake.reportRefusals.shift();
        if (refusal) throw refusal;
        fake.connectionReports.push(request);
        return {};
      },
      async acceptEvents(request, call) {
        check(request);
        await fake.beforeAccept();
        const { eventsJson, resumeState, identity } = request;
        const opened =
          resumeState &&
          sealer.openBytes(resumeState, {
            contract: DeploymentsServiceDefinition,
            method: 'acceptEvents',
            peer: 'channels',
            requestId: call.requestId,
          });
        fake.receivers.push(identity?.botId);
        fake.accepted.push({ eventsJson, resumeState: opened?.toString() });
        return {};
      },
      async reportProbe(request) {
        fake.probeReports.push(request);
        return {};
      },
      decideFromChannel: async () => fake.decision,
    },
    'channels',
    context,
  );
  const fake: FakeDeployments = {
    client,
    ...{
      connections: [],
      conversations: [],
      deliveries: [],
      probes: [],
      claims: [],
      finished: [],
      notes: [],
    },
    ...{ released: [], connectionReports: [], probeReports: [], renewed: [], lost: new Set(), lostFence: -1 },
    ...{ reportRefusals: [], accepted: [], receivers: [], beforeAccept: async () => {} },
    decision: { outcome: 'decided', reason: '', decision: 'allow', decidedBy: 'Ada' },
    linkNotice: '',
    replyTo: '',
    posts: new Map(),
  };
  return fake;
}
