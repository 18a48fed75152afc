import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { LearnedWindows } from './context-windows.ts';

interface LearnedWindowsOptions {
  agents: Pick<Client<AgentsServiceDefinition>, 'getModelWindow' | 'storeModelWindow'>;
  clock: Clock;
  log: Log;
}

const MAX_MODELS = 1_000;
/** How long an answer counts, also one without a window. */
const FRESH_MS = 60_000;
/** Models of this process, whose windows no other runner needs. */
const BUILT_IN = 'rehearsal/';

/** The windows that all runners have learned. The agents service keeps them. */
export function createLearnedWindows({ agents, clock, log }: LearnedWindowsOptions): LearnedWindows {
  const cache = new LruCache<string, { window: number | undefined; until: number }>(MAX_MODELS);
  const keep = (model: string, window: number | undefined) =>
    cache.set(model, { window, until: clock.now().getTime() + FRESH_MS });
  return {
    async find(model) {
      const cached = cache.get(model);
      if (model.startsWith(BUILT_IN) || (cached && clock.now().getTime() < cached.until))
        return cached?.window;
      try {
        // A window that this runner could not store is missing there.
        const { window = cached?.window } = await agents.getModelWindow({ model });
        keep(model, window);
        return window;
      } catch (error) {
        log.warn({ model, err: error }, 'the learned context window of a model cannot be read');
        keep(model, cached?.window);
        return cached?.window;
      }
    },

    async store(model, window) {
      keep(model, window);
      try {
        await agents.storeModelWindow({ model, window });
      } catch (error) {
        log.warn({ model, window, err: error }, 'a learned context window cannot be stored');
      }
    },
  };
}
