import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { InboundEvent } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { LinkStore, ProductAccount, StoredLink } from '../store/links.ts';
import type { Channel } from './channel-reader.ts';

/** The account that has sent an event. */
export function accountOf(
  { provider, deploymentId, identity }: Pick<Channel, 'provider' | 'deploymentId' | 'identity'>,
  { team, senderId }: Pick<InboundEvent, 'team' | 'senderId'>,
): ProductAccount {
  return { provider, team: teamOf(), externalId: senderId };

  /** Ids of other products than Slack and http are unique without a workspace. */
  function teamOf(): string {
    if (provider === 'http') return deploymentId;
    return provider === 'slack' ? team || (identity?.teamId ?? '') : '';
  }
}

/** An event with its channel. */
interface SentEvent {
  channel: Channel;
  event: InboundEvent;
}

type AccountCall = Pick<Call, 'trace' | 'requestId'>;

/** StoredLink.how of a link that a verified e-mail has created. */
const BY_EMAIL = 'email';

interface AccountUsersContext {
  links: Pick<LinkStore, 'ofAccounts' | 'add'>;
  record: AuditRecorder;
  clock: Clock;
  ids: Ids;
  /** Returns the enabled user with this verified e-mail. */
  userOfEmail: (email: string, channel: Channel, call: AccountCall) => Promise<string | undefined>;
}

export type AccountUsers = ReturnType<typeof createAccountUsers>;

/**
 * Finds the users that accounts belong to. A verified e-mail creates a link where the channel trusts it. Channels that do not
 * trust e-mails ignore such links.
 */
export function createAccountUsers({ links, record, clock, ids, userOfEmail }: AccountUsersContext) {
  const keyOf = ({ provider, team, externalId }: ProductAccount) =>
    JSON.stringify([provider, team, externalId]);

  async function byEmail({ channel, event }: SentEvent, call: AccountCall): Promise<string> {
    if (!channel.config.trustEmail || event.senderEmail === '') return '';
    const userId = await userOfEmail(event.senderEmail, channel, call);
    if (userId === undefined) return '';
    const account = { ...accountOf(channel, event), externalName: event.senderName };
    const link = { ...account, linkId: ids('lnk'), userId, how: BY_EMAIL, createdAt: clock.now() };
    await recordLink(link, call);
    await links.add(link, { trace: call.trace });
    return userId;
  }

  async function recordLink({ linkId, ...link }: StoredLink, call: AccountCall): Promise<void> {
    const { provider, team, externalId: external_id, userId: user_id, how } = link;
    const data = { provider, team, external_id, user_id, how };
    const caller = { userId: user_id, roles: [] };
    await record({ action: 'channel.link', targetId: linkId, data }, { ...call, caller });
  }

  return {
    /** The user of the sender of each event, in the same order. Empty: not linked. */
    async of(events: readonly SentEvent[], call: AccountCall): Promise<string[]> {
      const accounts = events.map(({ channel, event }) => accountOf(channel, event));
      const known = accounts.filter(({ externalId }) => externalId !== '');
      const found = new Map(
        (await links.ofAccounts(known, { trace: call.trace })).map((link) => [keyOf(link), link]),
      );
      return Promise.all(
        events.map((sent, index) => {
          const account = accounts[index];
          const link = account && found.get(keyOf(account));
          const counts = link && (link.how !== BY_EMAIL || sent.channel.config.trustEmail);
          return counts ? link.userId : byEmail(sent, call);
        }),
      );
    },
  };
}
