import type { Call } from '../../../../lib/grpc/contract.ts';
import { type PeerSealer, type SealedForPeer, secretsIn } from '../../../../lib/grpc/sealed-for-peer.ts';
import type { Secret } from '../../../../lib/secret.ts';
import { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';

/** Returns the credentials of a request by name; none when the request has none. */
export function openCredentialsOf(
  sealed: SealedForPeer | undefined,
  sealer: PeerSealer,
  method: 'createDeployment' | 'updateDeployment',
  call: Call,
): Record<string, Secret> {
  if (!sealed) return {};
  return secretsIn(sealer.open(sealed, { contract: DeploymentsServiceDefinition, method, ...call }));
}
