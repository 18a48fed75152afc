import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { Secret } from '../../../lib/secret.ts';
import type { ChannelConfig, Provider } from '../domain/channels/channel.ts';
import { atRevision, type Connection, connectAgain, disconnect } from '../domain/channels/connection.ts';
import {
  checkCredentials,
  missingCredentials,
  SHARED_SECRET,
  summarize,
  WEBHOOK_SECRET,
} from '../domain/channels/credentials.ts';
import type { Deployment, Status } from '../domain/deployments.ts';
import type { ChannelChange, ChannelDeployment, StoredChannel } from '../store/channels.ts';
import type { ChannelSealing, Credentials } from './channel-sealing.ts';

interface ChangedMembers {
  name: string;
  metadata: Readonly<Record<string, string>>;
  config: ChannelConfig;
  /** The credentials that are replaced. */
  given: Credentials;
}

const SECRET_BYTES = 32;

export type ChannelChanges = ReturnType<typeof createChannelChanges>;

/** Changes of channels by clients. Each one increments the revision. */
export function createChannelChanges({ sealing, clock }: { sealing: ChannelSealing; clock: Clock }) {
  function touched(deployment: Deployment, now: Date): Deployment {
    return { ...deployment, revision: deployment.revision + 1, updatedAt: now };
  }

  function stored(
    { deploymentId, provider, identity }: Pick<StoredChannel, 'deploymentId' | 'provider' | 'identity'>,
    config: ChannelConfig,
    credentials: Credentials,
    summaries: StoredChannel['credentials'],
  ): StoredChannel {
    return {
      deploymentId,
      provider,
      config,
      sealedCredentials: sealing.sealCredentials(credentials, deploymentId),
      credentials: summaries,
      botFingerprint: fingerprintOf(provider, credentials),
      identity,
    };
  }

  function fingerprintOf(provider: Provider, { bot_token: token }: Credentials): string | null {
    return token && provider !== 'http' ? sealing.botFingerprint(provider, token) : null;
  }

  function factsOf({ deploymentId, createdBy, revision }: Deployment, channel: StoredChannel) {
    const { provider, config, credentials } = channel;
    const { mode } = config;
    const names = credentials.map(({ name }) => name);
    const missing = missingCredentials(provider, mode, names);
    return { deploymentId, ownerId: createdBy, provider, mode, revision, missingCredentials: missing };
  }

  return {
    /** A new channel with its connection, and the secret that was generated for its owner. */
    create(deployment: Deployment, provider: Provider, config: ChannelConfig, given: Credentials) {
      checkCredentials(provider, config.mode, given, []);
      const now = clock.now();
      const { deploymentId } = deployment;
      const generated = generatedSecrets(provider);
      const credentials = { ...given, ...generated };
      const summaries = summarize(credentials, [], [], now);
      const channel = stored({ deploymentId, provider, identity: null }, config, credentials, summaries);
      const connection = connectAgain(undefined, factsOf(deployment, channel), false, now);
      return { deployment, channel, connection, sharedSecret: generated[SHARED_SECRET] };
    },

    /** Members that workers use let the channel connect again. So does every change of one that cannot connect. */
    update({ deployment, channel }: ChannelDeployment, changed: ChangedMembers): ChannelChange {
      const now = clock.now();
      const { name, metadata, config, given } = changed;
      const currentNames = channel.credentials.map((one) => one.name);
      checkCredentials(channel.provider, config.mode, given, currentNames);
      const givenNames = Object.keys(given);
      const current = sealing.openCredentials(channel.sealedCredentials, channel.deploymentId);
      const credentials = {
        ...current,
        ...given,
        // The webhook of the former bot knows the former secret, so its updates are refused.
        ...(given.bot_token && channel.provider === 'telegram' ? generatedSecrets('telegram') : {}),
      };
      const summaries = summarize(credentials, channel.credentials, givenNames, now);
      const replaced = stored(channel, config, credentials, summaries);
      // The stored fingerprint can be of another key.
      const isOtherBot = replaced.botFingerprint !== fingerprintOf(channel.provider, current);
      const next = isOtherBot ? { ...replaced, identity: null } : replaced;
      const isChanged = givenNames.length > 0 || JSON.stringify(config) !== JSON.stringify(channel.config);
      const changedDeployment = { ...touched(deployment, now), name, metadata };
      const keepsResume = !isOtherBot && config.mode === channel.config.mode;
      const facts = factsOf(changedDeployment, next);
      return {
        deployment: changedDeployment,
        channel: next,
        connection(before) {
          const connects = deployment.status === 'enabled' && (isChanged || before?.state === 'failed');
          if (connects) return connectAgain(before, facts, keepsResume, now);
          return before && atRevision(before, facts.revision);
        },
      };
    },

    /** Enabling connects, disabling removes the channel from its product. The same status changes nothing. */
    setStatus({ deployment, channel }: ChannelDeployment, status: Status): ChannelChange {
      const keep = (before: Connection | undefined) => before;
      if (deployment.status === status) return { deployment, channel, connection: keep };
      const now = clock.now();
      const changed = { ...touched(deployment, now), status };
      const facts = factsOf(changed, channel);
      const credentials = sealing.openCredentials(channel.sealedCredentials, channel.deploymentId);
      return {
        deployment: changed,
        channel: { ...channel, botFingerprint: fingerprintOf(channel.provider, credentials) },
        connection(before) {
          if (status === 'enabled') return connectAgain(before, facts, false, now);
          return before && atRevision(disconnect(before, channel.sealedCredentials, now), facts.revision);
        },
      };
    },
  };
}

function generatedSecrets(provider: Provider): Record<string, Secret> {
  const bytes = randomBytes(SECRET_BYTES);
  // The form of Standard Webhooks.
  if (provider === 'http') return { [SHARED_SECRET]: new Secret(`whsec_${bytes.toString('base64')}`) };
  // Telegram allows only letters, digits, _ and -.
  if (provider === 'telegram') return { [WEBHOOK_SECRET]: new Secret(bytes.toString('base64url')) };
  return {};
}
