import { errors, type JWTPayload, jwtVerify } from 'jose';
import { CLOCK_TOLERANCE_SECONDS, type DiscoveredProvider, SIGNATURE_ALGORITHMS } from './provider.ts';

/**
 * Verifies the signature of an ID token from the provider. An unknown key is loaded at once, because the token comes
 * directly from the provider.
 */
export async function verifyIdToken(
  idToken: string,
  clientId: string,
  { keys, issuer }: DiscoveredProvider,
): Promise<JWTPayload> {
  const options = {
    issuer,
    audience: clientId,
    algorithms: SIGNATURE_ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };
  try {
    return (await jwtVerify(idToken, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    await keys.reload();
    return (await jwtVerify(idToken, keys, options)).payload;
  }
}
