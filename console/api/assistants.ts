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
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';
import { pollInterval } from './polling.ts';

/** Sessions write to the workspace and the API sends no notification of it, so the query polls. */
const WORKSPACE_POLLING = { active: 5_000, idle: 20_000, recent: 60_000 };

const pathOf = (assistantId: string) => ({ path: { assistant_id: assistantId } });

/** Queries and mutations of assistants. Query keys begin with `assistants`. */
export const assistants = {
  list: (q?: string) =>
    pagedQuery(['assistants', 'list', q], (cursor, signal) =>
      unwrapPage(listAssistants({ query: { q, cursor }, signal })),
    ),
  detail: (assistantId: string) =>
    queryOptions({
      queryKey: ['assistants', assistantId],
      queryFn: ({ signal }) => unwrapData(getAssistant({ ...pathOf(assistantId), signal })),
    }),
  workspace: (assistantId: string) =>
    queryOptions({
      queryKey: ['assistants', assistantId, 'workspace'],
      queryFn: ({ signal }) => unwrapData(getAssistantWorkspace({ ...pathOf(assistantId), signal })),
      refetchInterval: (query) => pollInterval(query, WORKSPACE_POLLING, () => false),
    }),
  create: (body: CreateAssistantData['body'], key: string) =>
    unwrapData(createAssistant({ body, headers: { 'Idempotency-Key': key } })),
  /** Fails with VERSION_CONFLICT when the assistant's current revision is not `revision`. */
  update: (assistantId: string, revision: number, body: UpdateAssistantData['body']) =>
    unwrapData(updateAssistant({ ...pathOf(assistantId), body, headers: { 'If-Match': `"${revision}"` } })),
  remove: (assistantId: string) => unwrapData(deleteAssistant(pathOf(assistantId))),
  startConversation: (assistantId: string, message: string | undefined, key: string) =>
    unwrapData(
      createAssistantConversation({
        ...pathOf(assistantId),
        body: { message },
        headers: { 'Idempotency-Key': key },
      }),
    ),
};
