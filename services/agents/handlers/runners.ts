import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'reportRunner' | 'listRunners'>;

/** The RPCs about runners and their sandbox providers. */
export function runnerHandlers({ runners, clock }: AgentsHandlerContext): Methods {
  return {
    async reportRunner({ runner, stopped }, call) {
      if (!runner) throw refuse('INVALID_REQUEST', 'The report names no runner.');
      if (stopped) await runners.forget(runner.runnerId, call);
      else await runners.report(runner, clock.now(), call);
      return {};
    },

    async listRunners(_, call) {
      return { runners: await runners.list(clock.now(), call) };
    },
  };
}
