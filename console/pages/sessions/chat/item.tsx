import { FilePen, FilePlus2, FileX2 } from 'lucide-react';
import { memo } from 'react';
import type { Session } from '../../../gen/index.ts';
import type { ChatItem, FileChanges, Notice, TurnEnd } from '../../../journal/chat.ts';
import { TextLink } from '../../../parts/links.tsx';
import { durationText } from '../../../parts/text/duration.ts';
import { classes } from '../../../ui/classes.ts';
import { CallCard } from './call.tsx';
import { Said } from './said.tsx';

export interface ItemProps {
  item: ChatItem;
  session: Session;
  mayWrite: boolean;
  isSought: boolean;
  onRaw: (event: number) => void;
}

/** One thing that was said or done. What is out of sight is not drawn. */
export const Item = memo(
  function Item({ item, session, mayWrite, isSought, onRaw }: ItemProps) {
    return (
      <div
        data-seq={item.seq}
        className={classes(
          'scroll-my-4 [contain-intrinsic-size:auto_6rem] [content-visibility:auto]',
          isSought && 'rounded-xl ring-2 ring-accent ring-offset-4 ring-offset-canvas',
        )}
      >
        <Shown item={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />
      </div>
    );
  },
  // Items are made anew with every event; most of them are what they were.
  (before, after) =>
    before.isSought === after.isSought &&
    before.mayWrite === after.mayWrite &&
    before.session.session_id === after.session.session_id &&
    JSON.stringify(before.item) === JSON.stringify(after.item),
);

function Shown({ item, session, mayWrite, onRaw }: Omit<ItemProps, 'isSought'>) {
  switch (item.kind) {
    case 'user':
    case 'agent':
    case 'thinking':
      return <Said said={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />;
    case 'call':
      return <CallCard call={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />;
    case 'files':
      return <Files files={item} sessionId={session.session_id} />;
    case 'notice':
      return <Aside notice={item} />;
    case 'end':
      return <End end={item} onRaw={onRaw} />;
  }
}

const TONES = { plain: 'text-muted', warn: 'text-warn', bad: 'text-bad' };

function Aside({ notice }: { notice: Notice }) {
  return (
    <p className={classes('text-center text-[13px] wrap-anywhere', TONES[notice.tone])}>{notice.text}</p>
  );
}

const OUTCOMES = {
  completed: 'Turn completed',
  failed: 'Turn failed',
  interrupted: 'Turn interrupted',
  cancelled: 'Turn cancelled',
};

function End({ end, onRaw }: { end: TurnEnd; onRaw: (event: number) => void }) {
  const { usage } = end;
  const parts = usage
    ? [
        durationText(usage.active_seconds * 1_000),
        `${usage.input_tokens.toLocaleString('en')} tokens in, ${usage.output_tokens.toLocaleString('en')} out`,
        `${usage.steps} ${usage.steps === 1 ? 'step' : 'steps'}`,
        ...(usage.tool_calls > 0 ? [`${usage.tool_calls} ${usage.tool_calls === 1 ? 'call' : 'calls'}`] : []),
      ]
    : [];
  return (
    <div className="flex flex-col gap-1">
      {end.error && (
        <p className="rounded-lg bg-bad-soft px-3 py-2 text-bad wrap-anywhere">
          {end.error.message} <code className="font-mono text-xs">{end.error.code}</code>
        </p>
      )}
      <button
        type="button"
        title="Show the event"
        onClick={() => onRaw(end.seq)}
        className="flex items-center gap-3 rounded text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line hover:text-ink"
      >
        <span className="text-balance">{[OUTCOMES[end.outcome], ...parts].join(' · ')}</span>
      </button>
    </div>
  );
}

const CHANGES = {
  created: { icon: FilePlus2, word: 'Created' },
  modified: { icon: FilePen, word: 'Changed' },
  deleted: { icon: FileX2, word: 'Deleted' },
};
const SHOWN_FILES = 8;

function Files({ files: { files }, sessionId }: { files: FileChanges; sessionId: string }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {files.slice(0, SHOWN_FILES).map(({ seq, path, change }) => {
        const { icon: Icon, word } = CHANGES[change];
        return (
          <li
            key={seq}
            className="flex max-w-full items-center gap-1.5 rounded-lg border border-line px-2 py-1 text-[13px]"
          >
            <Icon className="size-3.5 shrink-0 text-muted" aria-hidden />
            <span className="sr-only">{word}</span>
            {change === 'deleted' ? (
              <span className="truncate text-muted line-through" dir="auto">
                {path}
              </span>
            ) : (
              <TextLink
                to="/sessions/$sessionId"
                params={{ sessionId }}
                search={{ view: 'files', path }}
                dir="auto"
                className="truncate font-normal"
              >
                {path}
              </TextLink>
            )}
          </li>
        );
      })}
      {files.length > SHOWN_FILES && (
        <li className="px-2 py-1 text-[13px] text-muted">and {files.length - SHOWN_FILES} more</li>
      )}
    </ul>
  );
}
