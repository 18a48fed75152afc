import { createIds } from '../../../../lib/ids.ts';
import {
  type ClaimWorkRequest,
  type ClaimWorkResponse,
  type ConversationPlace,
  type DeliveryWork,
  type FinishDeliveryRequest,
  InboundEvent,
  type PostNote,
} from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { configMessage } from '../../../../services/deployments/channels/config-message.ts';
import {
  type ChannelConfig,
  defaultConfig,
  type Provider,
} from '../../../../services/deployments/domain/channels/channel.ts';
import { AGENT, OWNER } from '../system.ts';
import { asOwner, type ChannelSystem, openChannelSystem } from './channel-system.ts';

export { asOwner };
export const LINKED = 'usr_00000000000000000000000003';
export const SESSION = 'ses_01M7XYC91CC5TE06JQWDWRTJVA';
export const OTHER_SESSION = 'ses_01M7XYC91CC5TE06JQWDWRTJVB';
export const TURN = 'trn_01M7XYC91CC5TE06JQWDWRTJVA';
export const LEASE_SECONDS = 30;

export type WorkSystem = Awaited<ReturnType<typeof openWorkSystem>>;

/** A system with a manual clock and two channel workers, and the steps that the tests of their work share. */
export async function openWorkSystem(options: Parameters<typeof openChannelSystem>[0] = {}) {
  const system = await openChannelSystem(options);
  return {
    ...system,
    ...stepsOf(system),
    worker: createWorker(system),
    otherWorker: createWorker(system),
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

function stepsOf(system: ChannelSystem) {
  const { context } = system;
  const ids = createIds(context.clock);

  /** Creates a channel of OWNER. */
  async function createChannel(
    changes: Partial<ChannelConfig> = {},
    provider: Provider = 'http',
  ): Promise<string> {
    const config = configMessage({ ...defaultConfig(provider), ...changes });
    return (await system.create(provider, { config })).deploymentId;
  }

  let events = 0;

  /** Stores an event as the inbox of any product does. Returns the id of its delivery. */
  async function receive(deploymentId: string, changes: Partial<InboundEvent> = {}): Promise<string> {
    const deliveryId = ids('dlv');
    const event = { ...MESSAGE, dedupeKey: `event ${++events}`, ...changes };
    await system.sql(
      `insert into deliveries (delivery_id, deployment_id, owner_id, dedupe_key, kind, result, conversation, order_key,
         is_urgent, payload, sender_team, sender_id, sender_name, size, ready_at, created_at)
       values ($1, $2, $3, $4, $5, 'pending', $6, $7, $8, $9, $10, $11, $12, 10, $13, $13)`,
      [
        ...[deliveryId, deploymentId, OWNER.userId, event.dedupeKey, event.kind, event.place?.place ?? ''],
        ...[event.orderKey, event.kind !== 'message', Buffer.from(InboundEvent.encode(event).finish())],
        ...[event.team, event.senderId, event.senderName, context.clock.now()],
      ],
    );
    return deliveryId;
  }

  /** Links the account U1 of the channel, or another one, with a user of the agent. */
  async function link(deploymentId: string, externalId = 'U1', userId = LINKED): Promise<string> {
    const linkId = ids('lnk');
    await system.sql(
      `insert into links (link_id, provider, team, external_id, external_name, user_id, how, created_at)
       values ($1, 'http', $2, $3, 'Uma', $4, 'confirmed', $5)`,
      [linkId, deploymentId, externalId, userId, context.clock.now()],
    );
    return linkId;
  }

  /** Makes LINKED a user of the agent, or changes what it is. */
  function setUser({ level = 'use', enabled = true, userId = LINKED } = {}): void {
    const { fakes } = system;
    fakes.users.set(userId, { enabled, displayName: 'Uma Linked' });
    const agent = fakes.agents.get(AGENT);
    if (agent)
      fakes.agents.set(AGENT, {
        ...agent,
        users:
          level === 'use'
            ? [...(agent.users ?? []), userId]
            : (agent.users ?? []).filter((id) => id !== userId),
        managers: level === 'manage' ? [userId] : [],
      });
    context.bus.publish('agents.changed', AGENT);
    context.bus.publish('users.changed', userId);
  }

  async function deliveryOf(deliveryId: string) {
    const [row] = await system.sql<{
      result: string;
      reason: string | null;
      attempts: number;
      user_id: string | null;
      session_id: string | null;
    }>('select result, reason, attempts, user_id, session_id from deliveries where delivery_id = $1', [
      deliveryId,
    ]);
    if (!row) throw new Error(`there is no delivery ${deliveryId}`);
    return row;
  }

  const conversations = async (deploymentId: string) => {
    const request = { agentId: '', deploymentId, page: undefined };
    return (await system.edge.listConversations(request, asOwner)).conversations;
  };

  const posts = async (deploymentId: string, state = '') => {
    const request = { agentId: '', deploymentId, page: undefined, state, conversation: '' };
    return (await system.edge.listPosts(request, asOwner)).posts;
  };

  return { createChannel, receive, link, setUser, deliveryOf, conversations, posts };
}

/** A channel worker that does what the test says. */
function createWorker({ context, connection }: Pick<ChannelSystem, 'context' | 'connection'>) {
  const client = connection.as('channels');
  const workerId = context.ids('wrk');
  const options = () => ({ requestId: context.ids('req') });

  const claim = (changes: Partial<ClaimWorkRequest> = {}): Promise<ClaimWorkResponse> =>
    client.claimWork(
      {
        ...{ workerId, waitMs: 0, leaseSeconds: LEASE_SECONDS },
        ...{ connections: 0, conversations: 10, deliveries: 10 },
        ...changes,
      },
      { ...options(), timeoutMs: 60_000 },
    );

  const claimDeliveries = async (deliveries = 10): Promise<DeliveryWork[]> =>
    (await claim({ conversations: 0, deliveries })).deliveries;

  const finish = (
    { deliveryId, fence }: Pick<DeliveryWork, 'deliveryId' | 'fence'>,
    changes: Partial<FinishDeliveryRequest> = {},
  ) => client.finishDelivery({ ...ACCEPTED, ...changes, deliveryId, fence }, options());

  return {
    client,
    workerId,
    options,
    claim,
    claimDeliveries,
    claimConversations: async (conversations = 10) =>
      (await claim({ conversations, deliveries: 0 })).conversations,
    finish,

    /** Claims the only delivery, and reports that its message became a turn. */
    async accept(changes: Partial<FinishDeliveryRequest> = {}): Promise<DeliveryWork> {
      const [work] = await claimDeliveries();
      if (!work) throw new Error('there is no delivery');
      await finish(work, changes);
      return work;
    },

    note: (
      lease: {
        deploymentId: string;
        conversation: string;
        fence: number;
        movedTo?: ConversationPlace;
        movedReason?: string;
      },
      ...notes: Partial<PostNote>[]
    ) => {
      const { deploymentId, conversation, fence, movedTo, movedReason = '' } = lease;
      const posts = notes.map((note) => ({ ...NOTE, ...note }));
      return client.notePosts({ deploymentId, conversation, fence, posts, movedTo, movedReason }, options());
    },

    release: (lease: { deploymentId: string; conversation: string; fence: number }, toldSeq = 0) => {
      const { deploymentId, conversation, fence } = lease;
      const reference = { kind: 'conversation', deploymentId, conversation, fence };
      return client.releaseLease({ lease: reference, toldSeq }, options());
    },

    renew: (...leases: { deploymentId: string; conversation: string; fence: number }[]) =>
      client.renewLeases(
        {
          workerId,
          leaseSeconds: LEASE_SECONDS,
          leases: leases.map(({ deploymentId, conversation, fence }) => ({
            ...{ kind: 'conversation', deploymentId, conversation, fence },
          })),
        },
        options(),
      ),
  };
}

/** A message of the account U1 in the chat C1. */
export const MESSAGE: InboundEvent = {
  dedupeKey: '',
  orderKey: '',
  kind: 'message',
  place: { place: 'C1', thread: '', isGroup: false },
  title: 'Support chat',
  senderId: 'U1',
  senderName: 'Uma',
  team: '',
  isExternal: false,
  mentionsBot: true,
  repliesToBot: false,
  text: 'Hello',
  files: [],
  command: '',
  approvalId: '',
  decision: '',
  messageExternalId: '',
  answerToken: '',
  senderEmail: '',
  sentAt: undefined,
  messageId: '',
  botMessageId: '',
};

export const inPlace = (place: string) => ({ place, thread: '', isGroup: false });
export const command = (name: string): Partial<InboundEvent> => ({ kind: 'command', command: name });
export const click = (approvalId: string, decision: string, senderId = 'U1'): Partial<InboundEvent> => ({
  ...{ kind: 'action', approvalId, decision, senderId },
});

/** The message became a turn in SESSION. */
export const ACCEPTED: Omit<FinishDeliveryRequest, 'deliveryId' | 'fence'> = {
  result: 'accepted',
  reason: '',
  sessionId: SESSION,
  turnId: TURN,
  ownerId: OWNER.userId,
  detachSession: false,
  notices: [],
  offerLink: false,
  removeLink: false,
  isWaiting: false,
};

export const RETRY = { result: 'retry', reason: 'unavailable', sessionId: '', turnId: '', ownerId: '' };
export const notice = (text: string, key = '', isPrivate = false) => ({ key, text, isPrivate });

const NOTE: PostNote = {
  postId: '',
  turnId: TURN,
  kind: 'message',
  part: 0,
  key: '',
  state: 'posting',
  externalId: '',
  shownSha256: '',
  maybeDuplicate: false,
  error: '',
  nextAt: undefined,
  content: undefined,
};
