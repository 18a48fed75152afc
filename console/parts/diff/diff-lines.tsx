import { classes } from '../../ui/classes.ts';
import { VisibleText } from '../text/visible-text.tsx';
import type { DiffLine } from './lines.ts';

export interface DiffLinesProps {
  /** Lines, and numbers of unchanged lines that are left out. */
  rows: readonly (DiffLine | number)[];
  /** Shows invisible characters as marks, for a text that an administrator reviews. */
  marksInvisible?: boolean;
}

/** The lines of a diff. Long lines wrap. */
export function DiffLines({ rows, marksInvisible = false }: DiffLinesProps) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface py-1 font-mono text-[12.5px] leading-relaxed">
      {rows.map((row, index) =>
        typeof row === 'number' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by their position
          <p key={index} className="bg-sunken px-3 py-0.5 text-muted">
            {row === 1 ? '1 unchanged line' : `${row} unchanged lines`}
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by their position
          <DiffRow key={index} {...row} marksInvisible={marksInvisible} />
        ),
      )}
    </div>
  );
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const;
const PREFIXES = { same: '', removed: 'Removed: ', added: 'Added: ' } as const;
const TONES = { same: '', removed: 'bg-bad-soft', added: 'bg-good-soft' } as const;
const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const;

function DiffRow({ kind, text, marksInvisible }: DiffLine & { marksInvisible: boolean }) {
  const Tag = TAGS[kind];
  return (
    <div className={classes('flex gap-2 px-3', TONES[kind])}>
      <span aria-hidden className="w-3 shrink-0 text-center text-muted select-none">
        {SIGNS[kind]}
      </span>
      <Tag className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap no-underline" dir="auto">
        <span className="sr-only">{PREFIXES[kind]}</span>
        {text === '' ? ' ' : marksInvisible ? <VisibleText text={text} /> : text}
      </Tag>
    </div>
  );
}
