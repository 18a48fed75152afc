import { FolderOpen } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { fileRoute, type WorkspaceRef } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { ErrorState } from '../errors/error-state.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { Details } from './details.tsx';
import { DeleteDialog } from './dialogs/delete-dialog.tsx';
import { FolderDialog } from './dialogs/folder-dialog.tsx';
import { MoveDialog } from './dialogs/move-dialog.tsx';
import { curlsOf } from './file-curls.ts';
import { FileName } from './file-name.tsx';
import { folderOf, foldersAbove, isWithin, join } from './paths.ts';
import { Toolbar } from './toolbar.tsx';
import { rowsOf } from './tree/rows.ts';
import { FileTree } from './tree/tree.tsx';
import { useEntry } from './tree/use-entry.ts';
import { useFolders } from './tree/use-folders.ts';
import { DropZone } from './uploads/drop-zone.tsx';
import { droppedFiles, type SelectedFiles } from './uploads/selected-files.ts';
import { Uploads } from './uploads/uploads.tsx';
import { useUploads } from './uploads/use-uploads.ts';

export interface FileBrowserProps {
  workspace: WorkspaceRef;
  /** The selected file or folder, from the URL; absent for the root of the workspace. */
  path: string | undefined;
  onPath: (path: string | undefined) => void;
  /** Hides all actions that change files. */
  readOnly: boolean;
  /** A counter that grows when files change. Each change reloads the visible folders. */
  change: number;
  /** Shown above the files once they have loaded. */
  summary?: ReactNode;
  /** Called when the user retries, so that `summary` can reload as well. */
  onRetry?: () => void;
}

/** File browser of a workspace: the file tree, the selected entry and all file actions. */
export function FileBrowser(props: FileBrowserProps) {
  return <Browser key={`${props.workspace.kind} ${props.workspace.id}`} {...props} />;
}

type OpenDialog =
  | { kind: 'move' | 'delete'; entry: FileEntry }
  | { kind: 'folder'; folder: string }
  | { kind: 'replace'; folder: string; names: string[]; collected: SelectedFiles };

function Browser({ workspace, path = '', onPath, readOnly, change, summary, onRetry }: FileBrowserProps) {
  const curlOf = useCurl();
  const { folders, renew } = useFolders(workspace, change);
  const { queue, view } = useUploads(workspace, renew);
  const { entry, failure } = useEntry(workspace, folders, path);
  const [open, setOpen] = useOpenFolders(path, entry?.kind === 'directory');
  const [dialog, setDialog] = useState<OpenDialog>();
  const [dropFolder, setDropFolder] = useState<string>();
  const details = useRef<HTMLDivElement>(null);
  const all = folders.all;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `all` is a new map after every change of the folders
  const rows = useMemo(() => rowsOf(folders, open, entry), [folders, all, open, entry]);
  const folder = entry?.kind === 'directory' ? path : folderOf(path);
  const root = folders.folder('');
  const hasFailed = root.error !== undefined && root.pages.length === 0;
  const isEmpty = root.pages.length === 1 && root.pages[0]?.items.length === 0;

  function select(chosen: string | undefined): void {
    onPath(chosen);
    // On narrow pages the details are above the tree and may be outside of the viewport.
    requestAnimationFrame(() => details.current?.scrollIntoView({ block: 'nearest' }));
  }
  function toggle(folderPath: string, isOpen: boolean): void {
    const next = new Set(open);
    if (isOpen) next.add(folderPath);
    else next.delete(folderPath);
    setOpen(next);
  }
  function upload(into: string, collected: SelectedFiles): void {
    for (const name of collected.unreadable) toast.failed('The browser cannot read this file.', name);
    const names = [
      ...new Set([...collected.files.map(({ name }) => name), ...collected.emptyFolders].map(topOf)),
    ];
    const taken = names.filter((name) => folders.find(join(into, name)));
    if (taken.length > 0) setDialog({ kind: 'replace', folder: into, names: taken, collected });
    else queue.add(into, collected);
  }
  function afterMove(from: string, to: string): void {
    setOpen(new Set([...open].map((one) => (isWithin(one, from) ? to + one.slice(from.length) : one))));
    renew();
    if (isWithin(path, from)) onPath(to + path.slice(from.length));
  }
  function afterDelete(deleted: string): void {
    renew();
    if (path && isWithin(path, deleted)) onPath(folderOf(deleted) || undefined);
  }
  const entryActions = readOnly
    ? {}
    : {
        onRename: (chosen: FileEntry) => setDialog({ kind: 'move', entry: chosen }),
        onDelete: (chosen: FileEntry) => setDialog({ kind: 'delete', entry: chosen }),
      };
  const close = () => setDialog(undefined);

  return (
    <DropZone
      isEnabled={!readOnly}
      folder={folder}
      onFolder={setDropFolder}
      onDrop={(data, into) => void droppedFiles(data).then((collected) => upload(into, collected))}
    >
      {summary && !hasFailed && (root.pages.length > 0 ? summary : <Skeleton lines={1} />)}
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Breadcrumbs path={path} onPath={select} />
        {readOnly ? (
          <Badge>Read only</Badge>
        ) : (
          <Toolbar
            onChosen={(collected) => upload(folder, collected)}
            onNewFolder={() => setDialog({ kind: 'folder', folder })}
          />
        )}
      </div>
      <Uploads queue={queue} view={view} />
      {hasFailed && (
        <Card>
          <ErrorState
            error={root.error}
            isRetrying={root.isRetrying}
            onRetry={() => {
              folders.retry('');
              failure?.onRetry();
              onRetry?.();
            }}
            curl={curlOf({ path: fileRoute(workspace) })}
          />
        </Card>
      )}
      {!hasFailed && (
        <div className="grid gap-3 lg:grid-cols-[minmax(18rem,26rem)_minmax(0,1fr)]">
          <Card className="min-w-0 self-start">
            <FileTree
              folders={folders}
              rows={rows}
              selected={path}
              onSelect={select}
              onToggle={toggle}
              dropFolder={dropFolder}
              {...entryActions}
            />
          </Card>
          <Card
            className={classes(
              'min-w-0 self-start max-lg:scroll-mt-16',
              (path || isEmpty) && 'max-lg:order-first',
            )}
          >
            <div ref={details} />
            {isEmpty && path === '' ? (
              <EmptyState
                icon={<FolderOpen />}
                action={
                  readOnly ? undefined : (
                    <Button onClick={() => setDialog({ kind: 'folder', folder: '' })}>New folder</Button>
                  )
                }
                curl={
                  readOnly
                    ? undefined
                    : curlsOf(workspace, { path: '', kind: 'directory' }, curlOf).at(-1)?.curl
                }
              >
                {readOnly
                  ? 'No files.'
                  : 'No files yet. Drop files here to upload them, or ask the agent to create some.'}
              </EmptyState>
            ) : entry ? (
              <Details workspace={workspace} entry={entry} {...entryActions} />
            ) : failure ? (
              <ErrorState
                {...failure}
                curl={curlOf({ path: fileRoute(workspace, '', folder || undefined) })}
              />
            ) : (
              <Skeleton />
            )}
          </Card>
        </div>
      )}
      {dialog?.kind === 'move' && (
        <MoveDialog workspace={workspace} entry={dialog.entry} onClose={close} onMoved={afterMove} />
      )}
      {dialog?.kind === 'delete' && (
        <DeleteDialog workspace={workspace} entry={dialog.entry} onClose={close} onDeleted={afterDelete} />
      )}
      {dialog?.kind === 'folder' && (
        <FolderDialog
          workspace={workspace}
          folder={dialog.folder}
          onClose={close}
          onCreated={(created) => {
            renew();
            select(created);
          }}
        />
      )}
      {dialog?.kind === 'replace' && (
        <ConfirmDialog
          open
          onClose={close}
          title="Replace existing files?"
          action="Upload and replace"
          onConfirm={() => {
            queue.add(dialog.folder, dialog.collected);
            close();
          }}
        >
          <ExistingNames names={dialog.names} />
        </ConfirmDialog>
      )}
    </DropZone>
  );
}

const SHOWN_NAMES = 5;

function ExistingNames({ names }: { names: readonly string[] }) {
  return (
    <>
      <p>
        These names already exist. Files with the same path are replaced. Other files in existing folders are
        kept.
      </p>
      <ul className="mt-2 list-disc ps-5">
        {names.slice(0, SHOWN_NAMES).map((name) => (
          <li key={name}>
            <FileName text={name} />
          </li>
        ))}
        {names.length > SHOWN_NAMES && <li>and {names.length - SHOWN_NAMES} more</li>}
      </ul>
    </>
  );
}

const topOf = (name: string) => name.split('/', 1)[0] ?? name;

/** The expanded folders, initially the parents of the selected entry. */
function useOpenFolders(path: string, isFolder: boolean) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(foldersAbove(path)));
  useEffect(() => {
    if (!path) return;
    const required = [...foldersAbove(path), ...(isFolder ? [path] : [])];
    setOpen((now) => (required.every((folder) => now.has(folder)) ? now : new Set([...now, ...required])));
  }, [path, isFolder]);
  return [open, setOpen] as const;
}
