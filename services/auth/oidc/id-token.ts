import { errors, type JWTPayload, jwtVerify } from 'jose';
import { ALGORITHMS, type Discovered, TOLERANCE_SECONDS } from './provider.ts';

/**
 * Verifies the signature of an ID token that the provider has just given. A key that nobody has seen before is looked
 * for at once: it was the provider itself that used it.
 */
export async function verifyIdToken(
  idToken: string,
  clientId: string,
  { keys, issuer }: Discovered,
): Promise<JWTPayload> {
  const options = { issuer, audience: clientId, algorithms: ALGORITHMS, clockTolerance: TOLERANCE_SECONDS };
  try {
    return (await jwtVerify(idToken, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    await keys.reload();
    return (await jwtVerify(idToken, keys, options)).payload;
  }
}
