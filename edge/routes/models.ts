import { list } from '../envelope.ts';
import { route } from '../route.ts';
import { ModelShape, serializeModels } from '../schemas/models.ts';

export const modelRoutes = [
  route({
    method: 'GET',
    path: '/models',
    operationId: 'listModels',
    tag: 'Agents',
    summary: 'List models',
    description:
      'Returns all models with declared limits or capabilities, on one page, and an entry for the other models of each endpoint ' +
      'that the operator has configured. Agents can name further models of a provider; their limits are unknown. ' +
      'A key is never shown.',
    success: { status: 200, description: 'The models.', data: ModelShape, list: true },
    errors: [],
    async answer({ clients, call }) {
      return list(serializeModels(await clients.agents.listModels({}, call)), { nextCursor: '' });
    },
  }),
];
