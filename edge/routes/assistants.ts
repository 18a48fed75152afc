import { list, ok } from '../envelope.ts';
import { idempotencyKey, ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import {
  AssistantCreation,
  AssistantPatch,
  AssistantShape,
  serializeAssistant,
  serializeWorkspace,
  WorkspaceShape,
} from '../schemas/assistants.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../schemas/common.ts';
import { metadataAndTimeFilters, metadataAndTimes } from '../schemas/list-filters.ts';
import { created, patched } from '../schemas/runtime.ts';
import { etag } from './etag.ts';
import { replayed } from './replayed.ts';

const ONE = '/assistants/{assistant_id}';

export const assistantRoutes = [
  route({
    method: 'POST',
    path: '/assistants',
    operationId: 'createAssistant',
    tag: 'Assistants',
    summary: 'Create an assistant',
    description:
      'An assistant is visible only to its owner. All of its sessions share one workspace, which is deleted with it.',
    headers: ['Idempotency-Key'],
    body: AssistantCreation,
    example: { name: 'Helper', model: 'rehearsal/echo', system: 'Say what you hear.' },
    success: { status: 201, description: 'The new assistant.', data: AssistantShape, headers: ['ETag'] },
    errors: [],
    async answer({ clients, call, body, request }) {
      const creation = { ...created(body), idempotencyKey: idempotencyKey(request.raw) };
      const { assistant, replayed: isReplay } = await clients.agents.createAssistant(creation, call);
      return ok(serializeAssistant(assistant), { ...etag(assistant?.revision), ...replayed(isReplay) });
    },
  }),

  route({
    method: 'GET',
    path: '/assistants',
    operationId: 'listAssistants',
    tag: 'Assistants',
    summary: 'List your assistants',
    description: 'Returns your assistants, newest first.',
    query: closed({
      ...paging,
      q: search('Matches a part of the name or description, or an id.'),
      ...metadataAndTimeFilters,
    }),
    success: { status: 200, description: 'A page of assistants.', data: AssistantShape, list: true },
    errors: ['INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const request = { page: pageRequest(query), q: query.q ?? '', ...metadataAndTimes(query) };
      const { assistants, page } = await clients.agents.listAssistants(request, call);
      return list(assistants.map(serializeAssistant), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getAssistant',
    tag: 'Assistants',
    summary: 'Get an assistant',
    description: 'Only its creator can read it. The ETag is the `revision` of the assistant, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The assistant.', data: AssistantShape, headers: ['ETag'] },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const request = { assistantId: param('assistant_id') };
      const { assistant } = await clients.agents.getAssistant(request, call);
      return ok(serializeAssistant(assistant), etag(assistant?.revision));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateAssistant',
    tag: 'Assistants',
    summary: 'Update an assistant',
    description:
      'Omitted members stay unchanged; null clears a member. Assistants have no versions: the change applies to the next turn of ' +
      'each of its sessions. With `If-Match`, the request fails if the assistant has changed since.',
    headers: ['If-Match'],
    body: AssistantPatch,
    example: { system: 'Say it twice.' },
    success: { status: 200, description: 'The updated assistant.', data: AssistantShape, headers: ['ETag'] },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const ifRevisions = ifMatch(request.raw);
      const change = { assistantId: param('assistant_id'), ifRevisions, ...patched(body) };
      const { assistant } = await clients.agents.updateAssistant(change, call);
      return ok(serializeAssistant(assistant), etag(assistant?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteAssistant',
    tag: 'Assistants',
    summary: 'Delete an assistant',
    description:
      'Deletes the assistant and its workspace with all files. A deleted assistant starts no new turns. Its sessions remain ' +
      'readable. With `If-Match`, the request fails if the assistant has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The assistant was deleted.',
      data: deleted('assistant', id('ast', 'the assistant')),
    },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param, request }) {
      const assistantId = param('assistant_id');
      await clients.agents.deleteAssistant({ assistantId, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ assistant_id: assistantId, deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/workspace`,
    operationId: 'getAssistantWorkspace',
    tag: 'Assistants',
    summary: 'Get the workspace of an assistant',
    description:
      'Returns the usage and the limits of the workspace. Its version increases with every change.',
    success: { status: 200, description: 'The workspace.', data: WorkspaceShape },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const of = { $case: 'assistantId' as const, value: param('assistant_id') };
      const { workspace } = await clients.files.getWorkspace({ place: { of } }, call);
      return ok(serializeWorkspace(workspace));
    },
  }),
];
