import type { Clock } from '../../lib/clock.ts';
import type { Backend } from '../../lib/modules.ts';
import type { Clients } from '../clients.ts';

/** Returns the fact about channel workers in other processes. */
export async function factsOfChannelWorkers(
  { deployments }: Pick<Clients, 'deployments'>,
  own: readonly Backend[],
  clock: Clock,
): Promise<Backend[]> {
  // The fact of a worker in this process is among its own.
  if (own.some(({ role }) => role === 'channel worker')) return [];
  const fact = (description: string): Backend[] => [{ role: 'channel worker', description }];
  try {
    const { workers } = await deployments.listChannelWorkers({});
    const seenAt = workers[0]?.seenAt;
    if (!seenAt) return fact('none asks for work, so channels receive and post nothing');
    const seconds = Math.max(0, Math.round((clock.now().getTime() - seenAt.getTime()) / 1000));
    const count = workers.length === 1 ? '1 worker' : `${workers.length} workers`;
    return fact(`${count}, the last call ${seconds} s ago`);
  } catch {
    return fact('unknown, because deployments does not answer');
  }
}
