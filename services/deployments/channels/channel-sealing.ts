import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { keyIdOf, type Sealer } from '../../../lib/sealing.ts';
import type { Secret } from '../../../lib/secret.ts';
import { decodeSecretJson, encodeSecretJson, secretMembers } from '../../../lib/secret-json.ts';
import { credentialsContext } from '../store/channel-rows.ts';
import type { StoredChannel } from '../store/channels.ts';

/** The credentials of a channel by name. */
export type Credentials = Readonly<Record<string, Secret>>;

type SealedChannel = Pick<StoredChannel, 'deploymentId' | 'provider' | 'sealedCredentials' | 'identity'>;

const KEY_BYTES = 32;
const KEY_ID_DIGITS = 8;

export type ChannelSealing = ReturnType<typeof createChannelSealing>;

/** Encrypts the credentials of channels and the states of their connections for the database. */
export function createChannelSealing(sealer: Sealer, serviceSecret: string) {
  const fingerprintKey = new Uint8Array(
    hkdfSync('sha256', serviceSecret, '', 'agent-hosting-service bot fingerprint v1', KEY_BYTES),
  );
  const fingerprintKeyId = createHash('sha256').update(fingerprintKey).digest('hex').slice(0, KEY_ID_DIGITS);

  return {
    /** Fingerprints with another key cannot be compared. */
    fingerprintKeyId,

    sealCredentials: (credentials: Credentials, deploymentId: string): string =>
      sealer.seal(encodeSecretJson(credentials).toString(), credentialsContext(deploymentId)),

    openCredentials: (sealed: string, deploymentId: string): Record<string, Secret> =>
      secretMembers(decodeSecretJson(Buffer.from(sealer.open(sealed, credentialsContext(deploymentId))))),

    /** Discord's application id, which is no secret. Empty: not set. */
    applicationIdOf({ provider, sealedCredentials, deploymentId, identity }: SealedChannel): string {
      if (provider !== 'discord') return '';
      const credentials = sealer.open(sealedCredentials, credentialsContext(deploymentId));
      const { application_id: applicationId } = JSON.parse(credentials) as { application_id?: string };
      return applicationId ?? identity?.appId ?? '';
    },

    /** `state` is opaque: only channel workers read it. */
    sealResume: (state: Uint8Array, deploymentId: string): string =>
      sealer.seal(Buffer.from(state).toString('base64'), resumeContext(deploymentId)),

    /** Undefined when the key is not configured any more: the connection then begins anew. */
    openResume(sealed: string, deploymentId: string): Buffer | undefined {
      if (!sealer.keyIds.includes(keyIdOf(sealed))) return undefined;
      return Buffer.from(sealer.open(sealed, resumeContext(deploymentId)), 'base64');
    },

    /** Equal bot tokens of a provider have equal fingerprints. Without the key, a token cannot be tested by guessing. */
    botFingerprint(provider: string, botToken: Secret): string {
      const text = encodeSecretJson([provider, botToken]);
      return `${fingerprintKeyId}.${createHmac('sha256', fingerprintKey).update(text).digest('base64url')}`;
    },
  };
}

const resumeContext = (deploymentId: string) => `connection state of ${deploymentId}`;
