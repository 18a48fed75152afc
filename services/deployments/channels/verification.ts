import type { CallbackHeader } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { OpenChannel } from './channel-reader.ts';
import type { CallbackRequest, Verifier } from './products/product.ts';
import { productOf } from './products/products.ts';

/** A signed request without a body. */
interface SignedPull {
  headers: readonly CallbackHeader[];
  /** Path and query as sent: the signed payload. */
  target: string;
}

export type Verification = ReturnType<typeof createVerification>;

/** Both functions return why a request is not authentic, as in the list of deliveries; undefined for an authentic one. */
export function createVerification() {
  // The keys of a channel are prepared once. A changed channel is another object.
  const verifiers = new WeakMap<OpenChannel, Verifier>();

  function verifierOf(channel: OpenChannel): Verifier {
    const known = verifiers.get(channel);
    if (known) return known;
    const credentials = Object.entries(channel.credentials).map(([name, secret]) => [name, secret.reveal()]);
    const verifier = productOf(channel.provider).createVerifier(Object.fromEntries(credentials));
    verifiers.set(channel, verifier);
    return verifier;
  }

  return {
    findCallbackFault: (channel: OpenChannel, request: CallbackRequest, now: Date): string | undefined =>
      verifierOf(channel)(request, now),

    /** Only for the provider `http`. */
    findPullFault: (channel: OpenChannel, { headers, target }: SignedPull, now: Date): string | undefined =>
      verifierOf(channel)({ headers, body: Buffer.from(target) }, now),
  };
}
