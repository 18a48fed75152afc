import { classes } from '../../ui/classes.ts';
import { changedFields, type ShownField } from './fields.ts';
import { diffLines, type Line, piecesOf } from './lines.ts';

export interface DiffProps {
  before: readonly ShownField[];
  after: readonly ShownField[];
}

/** What has changed from one to the other: field by field, texts line by line. */
export function Diff({ before, after }: DiffProps) {
  const changes = changedFields(before, after);
  if (changes.length === 0) return <p className="py-4 text-muted">Nothing differs between them.</p>;
  return (
    <div className="flex flex-col gap-4">
      {changes.map((change) => (
        <section key={change.label} aria-label={change.label}>
          <h3 className="mb-1 font-medium">{change.label}</h3>
          <Lines lines={diffLines(change.before, change.after)} />
        </section>
      ))}
    </div>
  );
}

function Lines({ lines }: { lines: Line[] }) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface py-1 font-mono text-[12.5px] leading-relaxed">
      {piecesOf(lines).map((piece, index) =>
        typeof piece === 'number' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have nothing but their place
          <p key={index} className="bg-sunken px-3 py-0.5 text-muted">
            {piece === 1 ? '1 line alike' : `${piece} lines alike`}
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have nothing but their place
          piece.map((line, row) => <OneLine key={`${index}.${row}`} {...line} />)
        ),
      )}
    </div>
  );
}

const SIGNS = { same: ' ', gone: '−', new: '+' } as const;
const WORDS = { same: '', gone: 'Removed: ', new: 'Added: ' } as const;
const TONES = { same: '', gone: 'bg-bad-soft', new: 'bg-good-soft' } as const;
const TAGS = { same: 'span', gone: 'del', new: 'ins' } as const;

function OneLine({ kind, text }: Line) {
  const Tag = TAGS[kind];
  return (
    <div className={classes('flex gap-2 px-3', TONES[kind])}>
      <span aria-hidden className="w-3 shrink-0 text-center text-muted select-none">
        {SIGNS[kind]}
      </span>
      <Tag className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap no-underline" dir="auto">
        <span className="sr-only">{WORDS[kind]}</span>
        {text === '' ? ' ' : text}
      </Tag>
    </div>
  );
}
