import { list, ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import {
  AssistantCreation,
  AssistantPatch,
  AssistantShape,
  shownAssistant,
  shownWorkspace,
  WorkspaceShape,
} from '../schemas/assistants.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../schemas/common.ts';
import { created, patched } from '../schemas/runtime.ts';
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
      'Only you can see it. All of its sessions work in one workspace, which lasts as long as it does.',
    headers: ['Idempotency-Key'],
    body: AssistantCreation,
    example: { name: 'Helper', model: 'rehearsal/echo', system: 'Say what you hear.' },
    success: { status: 201, description: 'The new assistant.', data: AssistantShape },
    errors: [],
    async answer({ clients, call, body, request }) {
      const asked = { ...created(body), idempotencyKey: idempotencyKey(request.raw) };
      const { assistant, replayed: again } = await clients.agents.createAssistant(asked, call);
      return ok(shownAssistant(assistant), replayed(again));
    },
  }),

  route({
    method: 'GET',
    path: '/assistants',
    operationId: 'listAssistants',
    tag: 'Assistants',
    summary: 'List your assistants',
    description: 'Newest first.',
    query: closed({ ...paging, q: search('A part of the name or description, or an id.') }),
    success: { status: 200, description: 'A page of assistants.', data: AssistantShape, list: true },
    errors: ['INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const asked = { page: pageRequest(query), q: query.q ?? '' };
      const { assistants, page } = await clients.agents.listAssistants(asked, call);
      return list(assistants.map(shownAssistant), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getAssistant',
    tag: 'Assistants',
    summary: 'Read an assistant',
    success: { status: 200, description: 'The assistant.', data: AssistantShape },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const asked = { assistantId: param('assistant_id') };
      const { assistant } = await clients.agents.getAssistant(asked, call);
      return ok(shownAssistant(assistant));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateAssistant',
    tag: 'Assistants',
    summary: 'Change an assistant',
    description:
      'An absent member stays as it is, null clears it. There are no versions: whatever turn begins next, in whichever ' +
      'of its sessions, runs with what it is then.',
    body: AssistantPatch,
    example: { system: 'Say it twice.' },
    success: { status: 200, description: 'The assistant as it is now.', data: AssistantShape },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param, body }) {
      const asked = { assistantId: param('assistant_id'), ...patched(body) };
      const { assistant } = await clients.agents.updateAssistant(asked, call);
      return ok(shownAssistant(assistant));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteAssistant',
    tag: 'Assistants',
    summary: 'Delete an assistant',
    description:
      'It starts nothing any more, and its workspace goes with all that is in it. What was said in its sessions stays readable.',
    success: {
      status: 200,
      description: 'It is gone.',
      data: deleted('assistant', id('ast', 'the assistant')),
    },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      await clients.agents.deleteAssistant({ assistantId: param('assistant_id') }, call);
      return ok({ assistant_id: param('assistant_id'), deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/workspace`,
    operationId: 'getAssistantWorkspace',
    tag: 'Assistants',
    summary: 'Read how full the workspace of an assistant is',
    description: 'Its version grows with every change that somebody makes in it.',
    success: { status: 200, description: 'The workspace.', data: WorkspaceShape },
    errors: ['ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const of = { $case: 'assistantId' as const, value: param('assistant_id') };
      const { workspace } = await clients.files.getWorkspace({ place: { of } }, call);
      return ok(shownWorkspace(workspace));
    },
  }),
];
