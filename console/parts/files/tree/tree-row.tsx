import { ChevronRight, LoaderCircle, RotateCw } from 'lucide-react';
import { formatBytes } from '../../../ui/bytes.ts';
import { classes } from '../../../ui/classes.ts';
import { messageOf } from '../../errors/error-state.tsx';
import { EntryIcon } from '../entry-icon.tsx';
import { FileName } from '../file-name.tsx';
import type { TreeEntryRow, TreeRowData } from './rows.ts';

export interface TreeRowProps {
  id: string;
  row: TreeRowData;
  siblings: number;
  top: number;
  isActive: boolean;
  isSelected: boolean;
  isTarget: boolean;
  onPress: () => void;
  onToggle: () => void;
}

const INDENT_REM = 1.1;
/** Deeper levels have the same indentation, so that names stay readable. */
const MAX_INDENT_LEVEL = 10;

/** A row of the tree. The tree element has the focus and handles the keyboard. */
export function TreeRow({
  id,
  row,
  siblings,
  top,
  isActive,
  isSelected,
  isTarget,
  onPress,
  onToggle,
}: TreeRowProps) {
  const isFolder = row.kind === 'entry' && row.entry.kind === 'directory';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree element handles the keyboard
    // biome-ignore lint/a11y/useFocusableInteractive: the tree element has aria-activedescendant
    <div
      id={id}
      role="treeitem"
      aria-level={row.level}
      aria-expanded={isFolder ? row.isOpen : undefined}
      aria-selected={isSelected}
      aria-posinset={row.kind === 'entry' ? row.at : undefined}
      aria-setsize={row.kind === 'entry' ? siblings : undefined}
      data-folder={isFolder ? row.entry.path : row.folder}
      onClick={onPress}
      className={classes(
        'absolute inset-x-0 flex h-8 cursor-pointer items-center gap-1.5 rounded-lg pe-2 select-none',
        isSelected ? 'bg-accent-soft' : 'hover:bg-sunken',
        isTarget && 'bg-accent-soft outline-2 outline-accent outline-dashed -outline-offset-2',
        isActive &&
          'group-focus-visible/tree:outline-2 group-focus-visible/tree:-outline-offset-2 group-focus-visible/tree:outline-accent',
      )}
      style={{
        top,
        paddingInlineStart: `${(Math.min(row.level, MAX_INDENT_LEVEL) - 1) * INDENT_REM + 0.25}rem`,
      }}
    >
      {row.kind === 'entry' ? <Entry row={row} onToggle={onToggle} /> : <Note row={row} />}
    </div>
  );
}

function Entry({ row: { entry, isOpen }, onToggle }: { row: TreeEntryRow; onToggle: () => void }) {
  return (
    <>
      {entry.kind === 'directory' ? (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the tree element handles the keyboard
        // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys are the keyboard alternative
        <span
          className="-m-1 rounded p-1.5 text-muted hover:text-ink"
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <ChevronRight aria-hidden className={classes('size-4', isOpen && 'rotate-90')} />
        </span>
      ) : (
        <span className="w-5 shrink-0" />
      )}
      <EntryIcon entry={entry} isOpen={isOpen} />
      <span className="min-w-0 flex-1">
        <FileName text={entry.name} truncate />
      </span>
      {entry.kind === 'symlink' && (
        <span className="max-w-[45%] truncate text-xs text-muted">
          <span aria-hidden>→ </span>
          <span className="sr-only">links to </span>
          <bdi>{entry.target}</bdi>
        </span>
      )}
      {entry.kind === 'file' && (
        <span className="shrink-0 text-xs text-muted tabular-nums">{formatBytes(entry.size)}</span>
      )}
    </>
  );
}

function Note({ row }: { row: Exclude<TreeRowData, TreeEntryRow> }) {
  if (row.kind === 'failed') {
    const Icon = row.isRetrying ? LoaderCircle : RotateCw;
    return (
      <span className="flex min-w-0 items-center gap-2 ps-6 text-bad" title={messageOf(row.error)}>
        <Icon
          aria-hidden
          className={classes('size-4 shrink-0', row.isRetrying && 'motion-safe:animate-spin')}
        />
        <span className="truncate">
          {row.isRetrying ? 'Retrying' : 'Try again'}: {messageOf(row.error)}
        </span>
      </span>
    );
  }
  return (
    <span className="flex items-center gap-2 ps-6 text-muted">
      {row.kind === 'empty' ? (
        'Empty'
      ) : (
        <>
          <LoaderCircle aria-hidden className="size-4 motion-safe:animate-spin" />
          {row.kind === 'more' ? 'Loading more…' : 'Loading…'}
        </>
      )}
    </span>
  );
}
