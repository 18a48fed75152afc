import type { Bus } from '../../../lib/bus/bus.ts';
import { type Clock, wait } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { ChannelCheck } from '../domain/channels/check.ts';
import { deploymentNotFound } from '../domain/deployments.ts';
import type { ProbeStore } from '../store/probes.ts';

/** A running worker claims a probe within this time. */
const CLAIM_MS = 3_000;
/** The product answers within this time. */
const ANSWER_MS = 25_000;
/** Finds the changes whose hint was lost. */
const POLL_MS = 250;

interface ProbesContext {
  store: ProbeStore;
  bus: Bus;
  clock: Clock;
  ids: Ids;
}

/** The answer comes this long before the deadline of the call. */
const DEADLINE_MARGIN_MS = 500;

type ProbeCall = Pick<Call, 'trace' | 'signal' | 'deadline'>;

export type Probes = ReturnType<typeof createProbes>;

/** Checks of channels, which channel workers perform. */
export function createProbes({ store, bus, clock, ids }: ProbesContext) {
  /** Refused with DEPENDENCY_UNAVAILABLE when no worker claims the probe or the answer does not arrive in time. */
  async function answerOf(probeId: string, call: ProbeCall): Promise<ChannelCheck[]> {
    const startedAt = clock.now().getTime();
    const answerMs = Math.min(ANSWER_MS, call.deadline - startedAt - DEADLINE_MARGIN_MS);
    let hinted = new AbortController();
    const unsubscribe = bus.subscribe('channels.probed', (subject) => {
      if (subject === probeId) hinted.abort();
    });
    try {
      for (;;) {
        hinted = new AbortController();
        const state = await store.read(probeId, call);
        if (!state) throw deploymentNotFound();
        if (state.checks) return state.checks;
        const elapsedMs = clock.now().getTime() - startedAt;
        if (!state.isClaimed && elapsedMs >= CLAIM_MS)
          throw unavailable('No channel worker is running. Start the target channels.');
        if (elapsedMs >= answerMs)
          throw unavailable('The product did not answer the channel worker in time. Try again.');
        await wait(clock, POLL_MS, AbortSignal.any([hinted.signal, call.signal]));
        call.signal.throwIfAborted();
      }
    } finally {
      unsubscribe();
    }
  }

  return {
    async probe(deploymentId: string, call: ProbeCall): Promise<ChannelCheck[]> {
      const probeId = ids('prb');
      await store.insert({ probeId, deploymentId }, clock.now(), call);
      bus.publish('channels.changed', deploymentId);
      try {
        return await answerOf(probeId, call);
      } finally {
        await store.delete(probeId, call);
      }
    },

    /** Stores the answer of a worker. The caller of the probe may have left. */
    async report(
      probeId: string,
      checks: readonly ChannelCheck[],
      { trace }: Pick<Call, 'trace'>,
    ): Promise<void> {
      if (await store.finish(probeId, checks, { trace })) bus.publish('channels.probed', probeId);
    },
  };
}

function unavailable(message: string) {
  return refuse('DEPENDENCY_UNAVAILABLE', message, { retryAfterSeconds: 5 });
}
