import { networkInterfaces } from 'node:os';
import { isPublicAddress } from '../hosts.ts';
import type { Dialer } from './dialer.ts';

export type CheckedAddresses =
  | { problem?: undefined; addresses: readonly string[] }
  | { problem: 'no_address' | 'forbidden'; addresses?: undefined };

/**
 * Resolves a name once. A name with one forbidden address is refused, even if it also has allowed ones. By default,
 * public addresses of other machines are allowed.
 */
export async function resolveChecked(
  name: string,
  dialer: Pick<Dialer, 'resolve'>,
  isAllowed: (address: string) => boolean = isPublicAddressOfOthers(),
): Promise<CheckedAddresses> {
  const addresses = await dialer.resolve(name).catch(() => []);
  if (addresses.length === 0) return { problem: 'no_address' };
  return addresses.every(isAllowed) ? { addresses } : { problem: 'forbidden' };
}

/** Own addresses are forbidden even if they are public, because the service may listen there. */
function isPublicAddressOfOthers(): (address: string) => boolean {
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  );
  return (address) => isPublicAddress(address) && !own.has(address);
}
