import { queryOptions } from '@tanstack/react-query';
import {
  type CreateAssistantData,
  createAssistant,
  createAssistantConversation,
  deleteAssistant,
  getAssistant,
  getAssistantWorkspace,
  listAssistants,
  type UpdateAssistantData,
  updateAssistant,
} from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

/** Its sessions write into it without telling. */
const WORKSPACE_MS = 5_000;

const at = (assistantId: string) => ({ path: { assistant_id: assistantId } });

/** What can be seen of assistants, and done with them. Keys begin with `assistants`. */
export const assistants = {
  list: (q?: string) =>
    pagesOf(['assistants', 'list', q], (cursor, signal) =>
      askPage(listAssistants({ query: { q, cursor }, signal })),
    ),
  one: (assistantId: string) =>
    queryOptions({
      queryKey: ['assistants', assistantId],
      queryFn: ({ signal }) => ask(getAssistant({ ...at(assistantId), signal })),
    }),
  workspace: (assistantId: string) =>
    queryOptions({
      queryKey: ['assistants', assistantId, 'workspace'],
      queryFn: ({ signal }) => ask(getAssistantWorkspace({ ...at(assistantId), signal })),
      refetchInterval: WORKSPACE_MS,
    }),
  create: (body: CreateAssistantData['body'], key: string) =>
    ask(createAssistant({ body, headers: { 'Idempotency-Key': key } })),
  update: (assistantId: string, body: UpdateAssistantData['body']) =>
    ask(updateAssistant({ ...at(assistantId), body })),
  remove: (assistantId: string) => ask(deleteAssistant(at(assistantId))),
  converse: (assistantId: string, message: string | undefined, key: string) =>
    ask(
      createAssistantConversation({
        ...at(assistantId),
        body: { message },
        headers: { 'Idempotency-Key': key },
      }),
    ),
};
