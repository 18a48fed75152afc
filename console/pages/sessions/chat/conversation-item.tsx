import { lazy, memo, Suspense } from 'react';
import type { Session } from '../../../gen/index.ts';
import type { ChatItem, Notice, TurnEnd } from '../../../journal/chat.ts';
import { countText, tokensText } from '../../../journal/usage-text.ts';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { durationText } from '../../../parts/text/duration.ts';
import { classes } from '../../../ui/classes.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { CompactionDivider } from './compaction/compaction-divider.tsx';
import { FileChangeList, UploadItem } from './file-items.tsx';
import { Message } from './message.tsx';
import { ToolCallCard } from './tool-call-card.tsx';

// Only an unavailable vaults service makes a turn wait for its model key.
const ModelKeyCard = lazy(async () => ({
  default: (await loadChunk(() => import('./server-request/model-key-card.tsx'))).ModelKeyCard,
}));

export interface ConversationItemProps {
  item: ChatItem;
  session: Session;
  mayWrite: boolean;
  isTarget: boolean;
  onRaw: (event: number) => void;
}

/**
 * An item of the conversation. It is rendered again only when the item is another object. The browser does not render items
 * outside of the viewport.
 */
export const ConversationItem = memo(
  function ConversationItem({ item, session, mayWrite, isTarget, onRaw }: ConversationItemProps) {
    return (
      <div
        data-seq={item.seq}
        aria-current={isTarget || undefined}
        className={classes(
          'scroll-my-4 [contain-intrinsic-size:auto_6rem] [content-visibility:auto]',
          isTarget && 'rounded-xl ring-2 ring-accent ring-offset-4 ring-offset-canvas',
        )}
      >
        <ItemContent item={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />
      </div>
    );
  },
  (before, after) =>
    before.isTarget === after.isTarget &&
    before.mayWrite === after.mayWrite &&
    before.session.session_id === after.session.session_id &&
    before.item === after.item,
);

function ItemContent({ item, session, mayWrite, onRaw }: Omit<ConversationItemProps, 'isTarget'>) {
  switch (item.kind) {
    case 'user':
    case 'agent':
    case 'thinking':
      return <Message message={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />;
    case 'call':
      return <ToolCallCard call={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />;
    case 'authorization':
      return (
        <Suspense fallback={<Skeleton lines={2} />}>
          <ModelKeyCard authorization={item} session={session} mayWrite={mayWrite} onRaw={onRaw} />
        </Suspense>
      );
    case 'upload':
      return <UploadItem upload={item} sessionId={session.session_id} />;
    case 'files':
      return <FileChangeList files={item} sessionId={session.session_id} />;
    case 'notice':
      return <NoticeLine notice={item} />;
    case 'compaction':
      return (
        <CompactionDivider compaction={item} sessionId={session.session_id} onRaw={() => onRaw(item.seq)} />
      );
    case 'end':
      return <TurnEndLine end={item} onRaw={onRaw} />;
  }
}

const TONES = { plain: 'text-muted', warn: 'text-warn', bad: 'text-bad' };

function NoticeLine({ notice }: { notice: Notice }) {
  return (
    <p className={classes('text-center text-[13px] wrap-anywhere', TONES[notice.tone])}>{notice.text}</p>
  );
}

function outcomeText({ outcome, compaction }: TurnEnd): string {
  if (compaction === undefined) return `Turn ${outcome}`;
  const hasNoEffect = outcome === 'completed' && compaction === 'unchanged';
  return `Compaction ${outcome}${hasNoEffect ? ', nothing was shortened' : ''}`;
}

function TurnEndLine({ end, onRaw }: { end: TurnEnd; onRaw: (event: number) => void }) {
  const { usage } = end;
  const parts = usage
    ? [
        `active ${durationText(usage.active_seconds * 1_000)}`,
        tokensText(usage, end.outcome),
        countText(usage.steps, 'step'),
        ...(usage.tool_calls > 0 ? [countText(usage.tool_calls, 'call')] : []),
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
        title="Show event"
        onClick={() => onRaw(end.seq)}
        className="flex items-center gap-3 rounded text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line hover:text-ink"
      >
        <span className="text-balance">{[outcomeText(end), ...parts].join(' · ')}</span>
      </button>
    </div>
  );
}
