import type { ProductChannel } from '../product.ts';

/** The credentials that are no secrets. */
export function publicCredentials({ credentials }: Pick<ProductChannel, 'credentials'>) {
  return {
    applicationId: credentials.application_id?.reveal() ?? '',
    publicKey: credentials.public_key?.reveal() ?? '',
  };
}
