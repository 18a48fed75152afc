import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { listProviders } from '../domain/model-list.ts';
import type { AgentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'listModels'>;

/** The RPC about models and their providers. */
export function modelHandlers({ modelTable, endpoints, runners, clock }: AgentsHandlerContext): Methods {
  return {
    async listModels(_, call) {
      const { entries } = modelTable;
      return {
        models: entries.map(({ mediaTypes, ...entry }) => ({
          ...entry,
          mediaTypes: mediaTypes && { names: [...mediaTypes] },
        })),
        providers: listProviders(entries, endpoints, await runners.list(clock.now(), call)),
      };
    },
  };
}
