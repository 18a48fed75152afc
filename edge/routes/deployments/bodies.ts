import type { Static } from 'typebox';
import { type PeerSealer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import {
  type CreateDeploymentResponse,
  DeploymentsServiceDefinition,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { channelConfigOf } from '../../schemas/deployments/channel-config.ts';
import { type ChannelCredentialsBody, channelSecretsOf } from '../../schemas/deployments/channels.ts';
import type { DeploymentCreationBody } from '../../schemas/deployments/deployments.ts';
import { type DeploymentPatchBody, scheduleSettingsOf } from '../../schemas/deployments/schedules.ts';

/** Returns null in a replay. The previous release of the service sends the secret in clear. */
export function sharedSecretIn(
  { sealedSharedSecret, sharedSecret, replayed: isReplay }: CreateDeploymentResponse,
  sealer: PeerSealer,
  requestId: string,
): string | null {
  if (isReplay || sealedSharedSecret === undefined) return sharedSecret ?? null;
  const call = {
    contract: DeploymentsServiceDefinition,
    method: 'createDeployment',
    peer: 'deployments',
    requestId,
  } as const;
  return secretsIn(sealer.open(sealedSharedSecret, call)).shared_secret?.reveal() ?? null;
}

/** Encrypts the credentials of a channel for the deployments service. */
function sealedCredentials(
  credentials: Static<typeof ChannelCredentialsBody> | undefined,
  sealer: PeerSealer,
  method: 'createDeployment' | 'updateDeployment',
  requestId: string,
) {
  const secrets = channelSecretsOf(credentials);
  const call = { contract: DeploymentsServiceDefinition, method, peer: 'deployments', requestId };
  return secrets && sealer.seal(secrets, call);
}

export function settingsOf(
  body: Static<typeof DeploymentCreationBody>,
  sealer: PeerSealer,
  requestId: string,
) {
  if (body.type === 'webhook')
    return {
      type: body.type,
      promptPrefix: body.prompt_prefix ?? undefined,
      acceptsSealedSecret: true,
      name: '',
      metadata: {},
      schedule: undefined,
    };
  const { type, name, metadata = {} } = body;
  if (type === 'schedule') return { type, name, metadata, schedule: scheduleSettingsOf(body) };
  return {
    ...{ type, name, metadata, acceptsSealedSecret: true, schedule: undefined },
    channel: {
      provider: body.provider,
      config: channelConfigOf(body.config ?? {}),
      credentials: sealedCredentials(body.credentials, sealer, 'createDeployment', requestId),
      credentialNames: Object.keys(body.credentials ?? {}).sort(),
    },
  };
}

/** Undefined when the body has no member of channels. */
export function channelChangeOf(
  body: Static<typeof DeploymentPatchBody>,
  sealer: PeerSealer,
  requestId: string,
) {
  if (body.config === undefined && body.credentials === undefined) return undefined;
  return {
    config: body.config && channelConfigOf(body.config),
    credentials: sealedCredentials(body.credentials, sealer, 'updateDeployment', requestId),
  };
}
