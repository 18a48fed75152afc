import { FolderOpen } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { fileRoute, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Card } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { Failure } from '../faults/failure.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { curlsOf } from './curls.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { Details } from './details.tsx';
import { DropZone } from './drop-zone.tsx';
import { type Collected, droppedFiles } from './dropped.ts';
import { FolderDialog } from './folder-dialog.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { Name } from './name.tsx';
import { folderOf, foldersAbove, isWithin, join } from './paths.ts';
import { rowsOf } from './rows.ts';
import { Toolbar } from './toolbar.tsx';
import { Tree } from './tree.tsx';
import { Uploads } from './uploads.tsx';
import { useEntry } from './use-entry.ts';
import { useFolders } from './use-folders.ts';
import { useUploads } from './use-uploads.ts';

export interface FileBrowserProps {
  place: Place;
  /** The file or folder that is looked at, from the URL; absent for the workspace itself. */
  path: string | undefined;
  onPath: (path: string | undefined) => void;
  /** Nothing is offered that changes something. */
  readOnly: boolean;
  /** Grows whenever files change: then what is shown is read again. */
  change: number;
  /** What is said of the files as a whole, once there are any to be seen. */
  summary?: ReactNode;
  /** Whoever tries again to read the files means everything that is said of them. */
  onRetry?: () => void;
}

/** The files of a workspace: a tree of them, one of them in full, and everything that can be done with them. */
export function FileBrowser(props: FileBrowserProps) {
  return <Browser key={`${props.place.kind} ${props.place.id}`} {...props} />;
}

type Question =
  | { kind: 'move' | 'delete'; entry: FileEntry }
  | { kind: 'folder'; folder: string }
  | { kind: 'replace'; folder: string; names: string[]; collected: Collected };

function Browser({ place, path = '', onPath, readOnly, change, summary, onRetry }: FileBrowserProps) {
  const curlOf = useCurl();
  const { folders, renew } = useFolders(place, change);
  const { queue, view } = useUploads(place, renew);
  const { entry, failure } = useEntry(place, folders, path);
  const [open, setOpen] = useOpenFolders(path, entry?.kind === 'directory');
  const [question, setQuestion] = useState<Question>();
  const [dropFolder, setDropFolder] = useState<string>();
  const details = useRef<HTMLDivElement>(null);
  const all = folders.all;
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are other ones whenever anything in them is
  const rows = useMemo(() => rowsOf(folders, open, entry), [folders, all, open, entry]);
  const folder = entry?.kind === 'directory' ? path : folderOf(path);
  const root = folders.folder('');
  const isUnread = root.error !== undefined && root.pages.length === 0;
  const isEmpty = root.pages.length === 1 && root.pages[0]?.items.length === 0;

  function select(chosen: string | undefined): void {
    onPath(chosen);
    // On a narrow page it stands above the tree, maybe out of sight.
    requestAnimationFrame(() => details.current?.scrollIntoView({ block: 'nearest' }));
  }
  function toggle(folderPath: string, isOpen: boolean): void {
    const next = new Set(open);
    if (isOpen) next.add(folderPath);
    else next.delete(folderPath);
    setOpen(next);
  }
  function upload(into: string, collected: Collected): void {
    for (const name of collected.unreadable) toast.failed('The browser cannot read it', name);
    const names = [
      ...new Set([...collected.files.map(({ name }) => name), ...collected.emptyFolders].map(topOf)),
    ];
    const taken = names.filter((name) => folders.find(join(into, name)));
    if (taken.length > 0) setQuestion({ kind: 'replace', folder: into, names: taken, collected });
    else queue.add(into, collected);
  }
  function afterMove(from: string, to: string): void {
    setOpen(new Set([...open].map((one) => (isWithin(one, from) ? to + one.slice(from.length) : one))));
    renew();
    if (isWithin(path, from)) onPath(to + path.slice(from.length));
  }
  function afterDelete(gone: string): void {
    renew();
    if (path && isWithin(path, gone)) onPath(folderOf(gone) || undefined);
  }
  const change_ = readOnly
    ? {}
    : {
        onRename: (chosen: FileEntry) => setQuestion({ kind: 'move', entry: chosen }),
        onDelete: (chosen: FileEntry) => setQuestion({ kind: 'delete', entry: chosen }),
      };
  const close = () => setQuestion(undefined);

  return (
    <DropZone
      isEnabled={!readOnly}
      folder={folder}
      onFolder={setDropFolder}
      onDrop={(data, into) => void droppedFiles(data).then((collected) => upload(into, collected))}
    >
      {summary && !isUnread && (root.pages.length > 0 ? summary : <Skeleton lines={1} />)}
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Breadcrumbs path={path} onPath={select} />
        {readOnly ? (
          <Badge>Read only</Badge>
        ) : (
          <Toolbar
            onChosen={(collected) => upload(folder, collected)}
            onNewFolder={() => setQuestion({ kind: 'folder', folder })}
          />
        )}
      </div>
      <Uploads queue={queue} view={view} />
      {isUnread && (
        <Card>
          <Failure
            error={root.error}
            isTrying={root.isTrying}
            onRetry={() => {
              folders.retry('');
              failure?.onRetry();
              onRetry?.();
            }}
            curl={curlOf({ path: fileRoute(place) })}
          />
        </Card>
      )}
      {!isUnread && (
        <div className="grid gap-3 lg:grid-cols-[minmax(18rem,26rem)_minmax(0,1fr)]">
          <Card className="min-w-0 self-start">
            <Tree
              folders={folders}
              rows={rows}
              selected={path}
              onSelect={select}
              onToggle={toggle}
              dropFolder={dropFolder}
              {...change_}
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
              <Empty
                icon={<FolderOpen />}
                action={
                  readOnly ? undefined : (
                    <Button onClick={() => setQuestion({ kind: 'folder', folder: '' })}>New folder</Button>
                  )
                }
                curl={
                  readOnly ? undefined : curlsOf(place, { path: '', kind: 'directory' }, curlOf).at(-1)?.curl
                }
              >
                {readOnly
                  ? 'There are no files.'
                  : 'There are no files yet: drop some here, or have the agent write one.'}
              </Empty>
            ) : entry ? (
              <Details place={place} entry={entry} {...change_} />
            ) : failure ? (
              <Failure {...failure} curl={curlOf({ path: fileRoute(place, '', folder || undefined) })} />
            ) : (
              <Skeleton />
            )}
          </Card>
        </div>
      )}
      {question?.kind === 'move' && (
        <MoveDialog place={place} entry={question.entry} onClose={close} onMoved={afterMove} />
      )}
      {question?.kind === 'delete' && (
        <DeleteDialog place={place} entry={question.entry} onClose={close} onDeleted={afterDelete} />
      )}
      {question?.kind === 'folder' && (
        <FolderDialog
          place={place}
          folder={question.folder}
          onClose={close}
          onMade={(made) => {
            renew();
            select(made);
          }}
        />
      )}
      {question?.kind === 'replace' && (
        <Confirm
          open
          onClose={close}
          title="Replace what is there?"
          action="Upload and replace"
          onConfirm={() => {
            queue.add(question.folder, question.collected);
            close();
          }}
        >
          <Taken names={question.names} />
        </Confirm>
      )}
    </DropZone>
  );
}

const SHOWN_NAMES = 5;

function Taken({ names }: { names: readonly string[] }) {
  return (
    <>
      <p>
        These are there already. A file is replaced by one with the same path; whatever else is in a folder
        stays.
      </p>
      <ul className="mt-2 list-disc ps-5">
        {names.slice(0, SHOWN_NAMES).map((name) => (
          <li key={name}>
            <Name text={name} />
          </li>
        ))}
        {names.length > SHOWN_NAMES && <li>and {names.length - SHOWN_NAMES} more</li>}
      </ul>
    </>
  );
}

const topOf = (name: string) => name.split('/', 1)[0] ?? name;

/** Which folders are open: those above what is looked at, from the beginning on. */
function useOpenFolders(path: string, isFolder: boolean) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(foldersAbove(path)));
  useEffect(() => {
    if (!path) return;
    const wanted = [...foldersAbove(path), ...(isFolder ? [path] : [])];
    setOpen((now) => (wanted.every((one) => now.has(one)) ? now : new Set([...now, ...wanted])));
  }, [path, isFolder]);
  return [open, setOpen] as const;
}
