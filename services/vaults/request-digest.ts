import type { Secret } from '../../lib/secret.ts';
import { encodeSecretJson } from '../../lib/secret-json.ts';

/**
 * Returns the request whose digest identifies a repeated request: the encoded public members and the opened secrets. The box
 * of the secrets differs in each request.
 */
export function requestWithSecrets(
  request: { finish(): Uint8Array },
  secrets: Readonly<Record<string, Secret>>,
): { finish(): Uint8Array } {
  const members = Object.entries(secrets).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { finish: () => Buffer.concat([request.finish(), encodeSecretJson(Object.fromEntries(members))]) };
}
