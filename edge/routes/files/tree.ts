import { Type } from 'typebox';
import type { Change } from '../../../proto/gen/ahs/files/v1/files.ts';
import { list, ok } from '../../envelope.ts';
import { checkDirectoryPath, checkFilePath, rawQuery } from '../../files/path.ts';
import { FILE_PLACES, type FilePlace } from '../../files/places.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { type Exchange, type Route, route } from '../../route.ts';
import { closed, flag, optional, pageRequest, paging } from '../../schemas/common.ts';
import { afterSeq } from '../../schemas/events.ts';
import {
  ChangeShape,
  EntryShape,
  filePath,
  shownChange,
  shownEntry,
  workspaceVersion,
} from '../../schemas/files.ts';
import { replayed } from '../replayed.ts';

const Changed = Type.Object({ entry: EntryShape, workspace_version: workspaceVersion });

/** One change, and what it was answered with. */
async function change({ clients, call, param, request }: Exchange, at: FilePlace, kind: Change['kind']) {
  const { entries, workspace, replayed } = await clients.files.changeWorkspace(
    {
      ...at.of(param(at.parameter)),
      baseVersion: undefined,
      changes: [{ kind }],
      idempotencyKey: kind?.$case === 'remove' ? '' : idempotencyKey(request.raw),
    },
    call,
  );
  return { entry: entries[0] && shownEntry(entries[0]), version: workspace?.version ?? 0, replayed };
}

const listRoute = (at: FilePlace) =>
  route({
    method: 'GET',
    path: `${at.path}/files`,
    operationId: `list${at.noun}Files`,
    tag: 'Files',
    summary: `List the files of ${at.owner}`,
    description: 'In the order of the bytes of their paths. No sandbox has to be alive.',
    query: closed({
      ...paging,
      path: optional(filePath('A directory; the whole workspace when absent.')),
      recursive: optional(flag('Everything below it, not only what is directly in it.')),
    }),
    success: { status: 200, description: 'A page of entries.', data: EntryShape, list: true },
    errors: [at.missing, 'FILE_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query, request }) {
      rawQuery(request);
      const { entries, page } = await clients.files.listEntries(
        {
          ...at.of(param(at.parameter)),
          page: pageRequest(query),
          path: checkDirectoryPath(query.path ?? ''),
          recursive: query.recursive ?? false,
        },
        call,
      );
      return list(entries.map(shownEntry), page);
    },
  });

const entryRoute = (at: FilePlace) =>
  route({
    method: 'GET',
    path: `${at.path}/files/entry`,
    operationId: `get${at.noun}File`,
    tag: 'Files',
    summary: `Look up one file or directory of ${at.owner}`,
    description:
      'As it stands in the list. A symlink is described itself, and not what it points to. The ETag of a file is that of its content.',
    query: closed({ path: filePath('What is looked up.') }),
    success: { status: 200, description: 'What stands at the path.', data: EntryShape },
    errors: [at.missing, 'FILE_NOT_FOUND'],
    async answer({ clients, call, param, query, request }) {
      rawQuery(request);
      const path = checkFilePath(query.path);
      const { entry } = await clients.files.getEntry({ ...at.of(param(at.parameter)), path }, call);
      const etag = entry?.kind === 'file' ? { etag: `"${entry.sha256}"` } : undefined;
      return ok({ ...(entry && shownEntry(entry)) }, etag);
    },
  });

const moveRoute = (at: FilePlace) =>
  route({
    method: 'POST',
    path: `${at.path}/files/move`,
    operationId: `move${at.noun}File`,
    tag: 'Files',
    summary: `Move a file or directory of ${at.owner}`,
    description:
      'A directory moves with all that is in it. What is at `to` is refused with NAME_TAKEN unless `overwrite` is true.',
    headers: ['Idempotency-Key'],
    body: closed({
      from: filePath('What moves.'),
      to: filePath('Its new path. The directories above it are made.'),
      overwrite: optional(flag('Whether what is at `to` goes.', false)),
    }),
    example: { from: 'draft.md', to: 'docs/report.md' },
    success: { status: 200, description: 'What stands at the new path.', data: Changed },
    errors: [at.missing, ...at.frozen, 'FILE_NOT_FOUND', 'NAME_TAKEN', 'QUOTA_EXCEEDED'],
    async answer(exchange) {
      const { from, to, overwrite = false } = exchange.body;
      const value = { from: checkFilePath(from, '/from'), to: checkFilePath(to, '/to'), overwrite };
      const { entry, version, replayed: again } = await change(exchange, at, { $case: 'move', value });
      return ok({ entry, workspace_version: version }, replayed(again));
    },
  });

const directoryRoute = (at: FilePlace) =>
  route({
    method: 'POST',
    path: `${at.path}/files/directories`,
    operationId: `create${at.noun}Directory`,
    tag: 'Files',
    summary: `Make a directory of ${at.owner}`,
    description: 'With all above it. One that is there already stays as it is.',
    headers: ['Idempotency-Key'],
    body: closed({ path: filePath('The directory.') }),
    example: { path: 'docs/images' },
    success: { status: 201, description: 'The directory.', data: Changed },
    errors: [at.missing, ...at.frozen, 'NAME_TAKEN', 'QUOTA_EXCEEDED'],
    async answer(exchange) {
      const value = { path: checkFilePath(exchange.body.path) };
      const made = await change(exchange, at, { $case: 'makeDirectory', value });
      return ok({ entry: made.entry, workspace_version: made.version }, replayed(made.replayed));
    },
  });

const deleteRoute = (at: FilePlace) =>
  route({
    method: 'DELETE',
    path: `${at.path}/files`,
    operationId: `delete${at.noun}File`,
    tag: 'Files',
    summary: `Delete a file or directory of ${at.owner}`,
    description: 'A directory goes with all that is in it.',
    query: closed({ path: filePath('What goes.') }),
    success: {
      status: 200,
      description: 'It is gone.',
      data: Type.Object({
        path: filePath('What is gone.'),
        deleted: Type.Literal(true),
        workspace_version: workspaceVersion,
      }),
    },
    errors: [at.missing, ...at.frozen, 'FILE_NOT_FOUND'],
    async answer(exchange) {
      rawQuery(exchange.request);
      const path = checkFilePath(exchange.query.path);
      const { version } = await change(exchange, at, { $case: 'remove', value: { path, ifExists: false } });
      return ok({ path, deleted: true, workspace_version: version });
    },
  });

const changesRoute = (at: FilePlace) =>
  route({
    method: 'GET',
    path: `${at.path}/files/changes`,
    operationId: `list${at.noun}FileChanges`,
    tag: 'Files',
    summary: `List what has changed among the files of ${at.owner}`,
    description: 'Oldest first. What lies far back is not kept.',
    query: closed({ ...paging, after_seq: afterSeq }),
    success: { status: 200, description: 'A page of changes.', data: ChangeShape, list: true },
    errors: [at.missing, 'INVALID_CURSOR', 'CURSOR_EXPIRED'],
    async answer({ clients, call, param, query }) {
      const { changes, page } = await clients.files.listChanges(
        {
          ...at.of(param(at.parameter)),
          afterSeq: query.after_seq ?? 0,
          page: pageRequest(query),
        },
        call,
      );
      return list(changes.map(shownChange), page);
    },
  });

/** What is done with the tree of a workspace, apart from the bytes of its files. */
export const fileRoutes: Route[] = FILE_PLACES.flatMap((place) => [
  listRoute(place),
  entryRoute(place),
  moveRoute(place),
  directoryRoute(place),
  deleteRoute(place),
  changesRoute(place),
]);
