import { Brain, ChevronRight } from 'lucide-react';
import type { Session } from '../../../gen/index.ts';
import type { Said as SaidItem } from '../../../journal/chat.ts';
import { jsonText } from '../../../parts/text/json.ts';
import { MarkdownView } from '../../../parts/text/markdown.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Code } from '../../../ui/code.tsx';
import { Time } from '../../../ui/time.tsx';
import { EventMenu } from '../event-menu.tsx';

export interface SaidProps {
  said: SaidItem;
  session: Session;
  mayWrite: boolean;
  onRaw: (event: number) => void;
}

const SENDERS: Partial<Record<SaidItem['actor']['type'], string>> = {
  trigger: 'Trigger',
  schedule: 'Schedule',
  channel: 'Channel',
  mcp: 'MCP client',
};

export function Said({ said, session, mayWrite, onRaw }: SaidProps) {
  if (said.kind === 'thinking') return <Thinking text={said.text} />;
  const isUser = said.kind === 'user';
  const who = isUser ? (SENDERS[said.actor.type] ?? 'User') : 'Agent';
  return (
    <article aria-label={`${who} says`} className={isUser ? 'flex flex-col items-end' : ''}>
      <div className="mb-1 flex items-center gap-2 text-xs text-muted">
        <span className="font-medium">{who}</span>
        <Time at={said.createdAt} />
        {said.isQueued && <Badge>Queued</Badge>}
        {!said.isDraft && (
          <EventMenu session={session} seq={said.seq} text={said.text} mayFork={mayWrite} onRaw={onRaw} />
        )}
      </div>
      <div
        className={
          isUser
            ? 'max-w-full rounded-2xl rounded-tr-md bg-accent-soft px-4 py-2.5'
            : 'max-w-full leading-relaxed'
        }
      >
        {isUser ? (
          <p className="text-start whitespace-pre-wrap wrap-anywhere [unicode-bidi:plaintext]" dir="auto">
            {said.text}
          </p>
        ) : (
          <MarkdownView text={said.text} />
        )}
        {said.isDraft && (
          <span
            aria-hidden
            className="ms-0.5 inline-block h-4 w-1.5 rounded-sm bg-accent align-text-bottom motion-safe:animate-blink"
          />
        )}
        {said.others.length > 0 && <Code text={jsonText(said.others)} label="Parts that are no text" />}
      </div>
    </article>
  );
}

function Thinking({ text }: { text: string }) {
  return (
    <details className="group text-[13px] text-muted">
      <summary className="inline-flex cursor-pointer list-none items-center gap-1.5 rounded hover:text-ink">
        <Brain className="size-3.5" aria-hidden />
        Thought
        <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" aria-hidden />
      </summary>
      <p className="mt-1 border-s-2 border-line ps-3 whitespace-pre-wrap wrap-anywhere" dir="auto">
        {text}
      </p>
    </details>
  );
}
