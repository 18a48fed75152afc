import { Type } from 'typebox';
import type { Change } from '../../../proto/gen/ahs/files/v1/files.ts';
import { list, ok } from '../../envelope.ts';
import { checkDirectoryPath, checkFilePath, decodableQuery } from '../../files/path.ts';
import { WORKSPACE_OWNERS, type WorkspaceOwner } from '../../files/workspace-owners.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { requiredContent } from '../../input/preconditions.ts';
import { type Exchange, type Route, route } from '../../route.ts';
import { closed, flag, optional, pageRequest, paging } from '../../schemas/common.ts';
import { afterSeq } from '../../schemas/events.ts';
import {
  ChangedEntry,
  ChangeShape,
  EntryShape,
  filePath,
  serializeChange,
  serializeEntry,
  workspaceVersion,
} from '../../schemas/files.ts';
import { replayed } from '../replayed.ts';

/** Makes one change and returns its entry and the new version. */
async function change(
  { clients, call, param, request }: Exchange,
  owner: WorkspaceOwner,
  kind: Change['kind'],
) {
  const { entries, workspace, replayed } = await clients.files.changeWorkspace(
    {
      ...owner.locationOf(param(owner.parameter)),
      baseVersion: undefined,
      changes: [{ kind }],
      idempotencyKey: kind?.$case === 'remove' ? '' : idempotencyKey(request.raw),
    },
    call,
  );
  return { entry: entries[0] && serializeEntry(entries[0]), version: workspace?.version ?? 0, replayed };
}

const listRoute = (owner: WorkspaceOwner) =>
  route({
    method: 'GET',
    path: `${owner.path}/files`,
    operationId: `list${owner.noun}Files`,
    tag: 'Files',
    summary: `List the files of ${owner.phrase}`,
    description: 'Sorted by the bytes of their paths. Works without a running sandbox.',
    query: closed({
      ...paging,
      path: optional(filePath('A directory. Default: the whole workspace.')),
      recursive: optional(
        flag('Whether to list all entries below the directory instead of its direct children.'),
      ),
    }),
    success: { status: 200, description: 'A page of entries.', data: EntryShape, list: true },
    errors: [owner.notFound, 'FILE_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query, request }) {
      decodableQuery(request);
      const { entries, page } = await clients.files.listEntries(
        {
          ...owner.locationOf(param(owner.parameter)),
          page: pageRequest(query),
          path: checkDirectoryPath(query.path ?? ''),
          recursive: query.recursive ?? false,
        },
        call,
      );
      return list(entries.map(serializeEntry), page);
    },
  });

const entryRoute = (owner: WorkspaceOwner) =>
  route({
    method: 'GET',
    path: `${owner.path}/files/entry`,
    operationId: `get${owner.noun}File`,
    tag: 'Files',
    summary: `Get a file or directory of ${owner.phrase}`,
    description:
      'Returns the entry as it appears in the list. Symlinks are not followed. The ETag of a file is that of its content. A ' +
      'directory has none.',
    headers: ['If-Match'],
    query: closed({ path: filePath('The path of the entry.') }),
    success: { status: 200, description: 'The entry.', data: EntryShape, headers: ['ETag'] },
    errors: [owner.notFound, 'FILE_NOT_FOUND'],
    async answer({ clients, call, param, query, request }) {
      decodableQuery(request);
      const path = checkFilePath(query.path);
      const { entry } = await clients.files.getEntry(
        { ...owner.locationOf(param(owner.parameter)), path },
        call,
      );
      const etag = entry?.kind === 'file' ? { etag: `"${entry.sha256}"` } : undefined;
      return ok({ ...(entry && serializeEntry(entry)) }, etag);
    },
  });

const moveRoute = (owner: WorkspaceOwner) =>
  route({
    method: 'POST',
    path: `${owner.path}/files/move`,
    operationId: `move${owner.noun}File`,
    tag: 'Files',
    summary: `Move a file or directory of ${owner.phrase}`,
    description:
      'A directory is moved with its content. Fails with NAME_TAKEN if `to` exists, unless `overwrite` is true.',
    headers: ['Idempotency-Key'],
    body: closed(
      {
        from: filePath('The path of the entry.'),
        to: filePath('The new path. Missing parent directories are created.'),
        overwrite: optional(flag('Whether an existing entry at `to` is replaced.', false)),
      },
      { title: 'FileMove' },
    ),
    example: { from: 'draft.md', to: 'docs/report.md' },
    success: { status: 200, description: 'The moved entry.', data: ChangedEntry },
    errors: [owner.notFound, ...owner.changeErrors, 'FILE_NOT_FOUND', 'NAME_TAKEN', 'QUOTA_EXCEEDED'],
    async answer(exchange) {
      const { from, to, overwrite = false } = exchange.body;
      const value = { from: checkFilePath(from, '/from'), to: checkFilePath(to, '/to'), overwrite };
      const { entry, version, replayed: isReplay } = await change(exchange, owner, { $case: 'move', value });
      return ok({ entry, workspace_version: version }, replayed(isReplay));
    },
  });

const directoryRoute = (owner: WorkspaceOwner) =>
  route({
    method: 'POST',
    path: `${owner.path}/files/directories`,
    operationId: `create${owner.noun}Directory`,
    tag: 'Files',
    summary: `Create a directory of ${owner.phrase}`,
    description: 'Also creates missing parent directories. Creating an existing directory has no effect.',
    headers: ['Idempotency-Key'],
    body: closed({ path: filePath('The directory.') }),
    example: { path: 'docs/images' },
    success: { status: 201, description: 'The directory.', data: ChangedEntry },
    errors: [owner.notFound, ...owner.changeErrors, 'NAME_TAKEN', 'QUOTA_EXCEEDED'],
    async answer(exchange) {
      const value = { path: checkFilePath(exchange.body.path) };
      const created = await change(exchange, owner, { $case: 'makeDirectory', value });
      return ok({ entry: created.entry, workspace_version: created.version }, replayed(created.replayed));
    },
  });

const deleteRoute = (owner: WorkspaceOwner) =>
  route({
    method: 'DELETE',
    path: `${owner.path}/files`,
    operationId: `delete${owner.noun}File`,
    tag: 'Files',
    summary: `Delete a file or directory of ${owner.phrase}`,
    description:
      'A directory is deleted with its content. With `If-Match`, a file is deleted only if its ETag matches. A directory has ' +
      'no ETag, so `If-Match` is refused.',
    headers: ['If-Match'],
    query: closed({ path: filePath('The path of the entry.') }),
    success: {
      status: 200,
      description: 'The entry was deleted.',
      data: Type.Object(
        {
          path: filePath('The path of the deleted entry.'),
          deleted: Type.Literal(true),
          workspace_version: workspaceVersion,
        },
        { title: 'DeletedEntry' },
      ),
    },
    errors: [owner.notFound, ...owner.changeErrors, 'FILE_NOT_FOUND'],
    async answer(exchange) {
      decodableQuery(exchange.request);
      const path = checkFilePath(exchange.query.path);
      const { version } = await change(exchange, owner, {
        $case: 'remove',
        value: { path, ifExists: false, required: requiredContent(exchange.request.raw) },
      });
      return ok({ path, deleted: true, workspace_version: version });
    },
  });

const changesRoute = (owner: WorkspaceOwner) =>
  route({
    method: 'GET',
    path: `${owner.path}/files/changes`,
    operationId: `list${owner.noun}FileChanges`,
    tag: 'Files',
    summary: `List the file changes of ${owner.phrase}`,
    description: 'Oldest first. Old changes are not kept.',
    query: closed({ ...paging, after_seq: afterSeq }),
    success: { status: 200, description: 'A page of changes.', data: ChangeShape, list: true },
    errors: [owner.notFound, 'INVALID_CURSOR', 'CURSOR_EXPIRED'],
    async answer({ clients, call, param, query }) {
      const { changes, page } = await clients.files.listChanges(
        {
          ...owner.locationOf(param(owner.parameter)),
          afterSeq: query.after_seq ?? 0,
          page: pageRequest(query),
        },
        call,
      );
      return list(changes.map(serializeChange), page);
    },
  });

/** Operations on the tree of a workspace. Uploads and downloads are declared separately. */
export const fileRoutes: Route[] = WORKSPACE_OWNERS.flatMap((owner) => [
  listRoute(owner),
  entryRoute(owner),
  moveRoute(owner),
  directoryRoute(owner),
  deleteRoute(owner),
  changesRoute(owner),
]);
