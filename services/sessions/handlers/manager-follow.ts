import type { Clock } from '../../../lib/clock.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';

/** How often the level of a follower on the agent is checked. */
const CHECK_EVERY_MS = 3_000;

interface ManagerFollowContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'getLevel'>;
  clock: Clock;
}

/**
 * Follows another user's session as long as the caller manages its agent. The edge checks the caller's credential and
 * roles meanwhile.
 */
export async function* followWhileManager<Item>(
  { agents, clock }: ManagerFollowContext,
  agentId: string,
  call: Call,
  follow: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const revoked = new AbortController();
  let cancel = clock.after(CHECK_EVERY_MS, () => void check());
  async function check(): Promise<void> {
    // While the agents service is unavailable the level counts as unchanged.
    const answer = await agents.getLevel({ agentId }, call).catch(() => undefined);
    if (answer && answer.level !== 'manage') revoked.abort();
    else if (!revoked.signal.aborted) cancel = clock.after(CHECK_EVERY_MS, () => void check());
  }
  try {
    yield* follow(AbortSignal.any([call.signal, revoked.signal]));
  } finally {
    revoked.abort();
    cancel();
  }
}
