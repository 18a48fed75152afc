import type { Clock } from '../../../lib/clock.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';

/** How often it is asked whether somebody still manages the agent whose session they follow. */
const EVERY_MS = 3_000;

export interface GuestContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'getLevel'>;
  clock: Clock;
}

/**
 * What somebody follows of a session that is not theirs, for as long as they manage its agent. That they are who they
 * were, and may do what they could, is looked after where they came in.
 */
export async function* asGuest<Item>(
  { agents, clock }: GuestContext,
  agentId: string,
  call: Call,
  follow: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const leaving = new AbortController();
  let cancel = clock.after(EVERY_MS, () => void check());
  async function check(): Promise<void> {
    // As long as agents cannot be asked, nothing is known to have changed.
    const known = await agents.getLevel({ agentId }, call).catch(() => undefined);
    if (known && known.level !== 'manage') leaving.abort();
    else if (!leaving.signal.aborted) cancel = clock.after(EVERY_MS, () => void check());
  }
  try {
    yield* follow(AbortSignal.any([call.signal, leaving.signal]));
  } finally {
    leaving.abort();
    cancel();
  }
}
