import type { Call } from '../../../lib/grpc/contract.ts';
import type { Provider } from '../domain/channels/channel.ts';
import type { BotFingerprintStore } from '../store/bot-fingerprints.ts';
import type { ChannelSealing } from './channel-sealing.ts';

interface BotFingerprintsContext {
  store: BotFingerprintStore;
  sealing: ChannelSealing;
}

export type RefreshBots = ReturnType<typeof createRefreshBots>;

/**
 * Returns the function that makes the fingerprints of all enabled channels of a provider comparable, before one of them gets
 * a bot. Their key changes with SERVICE_SECRET.
 */
export function createRefreshBots({ store, sealing }: BotFingerprintsContext) {
  return async (provider: Provider, { trace }: Pick<Call, 'trace'>): Promise<void> => {
    if (provider === 'http') return;
    const keyId = sealing.fingerprintKeyId;
    for (let after = ''; ; ) {
      const stale = await store.stale(provider, { keyId, after }, { trace });
      for (const channel of stale) {
        const { bot_token: token } = sealing.openCredentials(channel.sealedCredentials, channel.deploymentId);
        if (token) await store.replace(channel, sealing.botFingerprint(provider, token), { trace });
      }
      const last = stale.at(-1);
      if (!last) return;
      after = last.deploymentId;
    }
  };
}
