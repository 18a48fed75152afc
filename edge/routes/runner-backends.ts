import type { Backend } from '../../lib/modules.ts';
import type { Clients } from '../clients.ts';

/** Returns the facts that runners in other processes report, each once. */
export async function backendsOfRunners(
  { agents }: Pick<Clients, 'agents'>,
  own: readonly Backend[],
): Promise<Backend[]> {
  // The facts of a runner in this process are among its own.
  if (own.some(({ role }) => role === 'sandbox')) return [];
  const unknown = (description: string): Backend[] => [{ role: 'sandbox', description }];
  try {
    const { runners } = await agents.listRunners({});
    if (runners.length === 0) return unknown('no runner reports, so commands cannot run');
    const facts = runners.flatMap(({ backends }) => backends);
    return [...new Map(facts.map((fact) => [`${fact.role} ${fact.description}`, fact])).values()];
  } catch {
    return unknown('unknown, because agents does not answer');
  }
}
