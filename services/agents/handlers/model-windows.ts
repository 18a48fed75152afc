import { FieldProblems } from '../../../lib/field-problems.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'getModelWindow' | 'storeModelWindow'>;

const MAX_INT32 = 2 ** 31 - 1;
/** A provider's name, a slash and a model id. */
const MAX_MODEL = 300;

/** The RPCs about the context windows that runners have learned. */
export function modelWindowHandlers({ modelWindows, modelTable, clock }: AgentsHandlerContext): Methods {
  return {
    async getModelWindow({ model }, call) {
      const window = await modelWindows.find(model, call);
      return { window, declaredWindow: modelTable.find(model)?.contextWindow };
    },

    async storeModelWindow({ model, window }, call) {
      const problems = new FieldProblems();
      problems.characters('/model', model, 1, MAX_MODEL);
      problems.range('/window', window, 1, MAX_INT32);
      problems.throwIfAny();
      await modelWindows.store(model, window, clock.now(), call);
      return {};
    },
  };
}
