import type { Call } from '../../../lib/grpc/contract.ts';
import type { InboundEvent } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { LinkStore, ProductAccount } from '../store/links.ts';
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

interface AccountUsersContext {
  links: Pick<LinkStore, 'ofAccounts'>;
  /** Returns the enabled user with this verified e-mail. */
  userOfEmail: (email: string, channel: Channel, call: AccountCall) => Promise<string | undefined>;
}

export type AccountUsers = ReturnType<typeof createAccountUsers>;

/** Finds the users that accounts belong to. */
export function createAccountUsers({ links, userOfEmail }: AccountUsersContext) {
  const keyOf = ({ provider, team, externalId }: ProductAccount) =>
    JSON.stringify([provider, team, externalId]);

  async function byEmail({ channel, event: { senderEmail } }: SentEvent, call: AccountCall): Promise<string> {
    if (!channel.config.trustEmail || senderEmail === '') return '';
    return (await userOfEmail(senderEmail, channel, call)) ?? '';
  }

  return {
    /** The user of the sender of each event, in the same order. Empty: not linked. */
    async of(events: readonly SentEvent[], call: AccountCall): Promise<string[]> {
      const accounts = events.map(({ channel, event }) => accountOf(channel, event));
      const known = accounts.filter(({ externalId }) => externalId !== '');
      const found = new Map(
        (await links.ofAccounts(known, { trace: call.trace })).map((link) => [keyOf(link), link.userId]),
      );
      return Promise.all(
        events.map((sent, index) => {
          const account = accounts[index];
          const linked = account && found.get(keyOf(account));
          return linked ?? byEmail(sent, call);
        }),
      );
    },
  };
}
