import { Brain, ChevronRight } from 'lucide-react';
import type { Session } from '../../../gen/index.ts';
import type { ChatMessage as SaidItem } from '../../../journal/chat.ts';
import { jsonText } from '../../../parts/text/json.ts';
import { MarkdownView } from '../../../parts/text/markdown.tsx';
import { providerName } from '../../../parts/text/provider-names.ts';
import { isProtocolActor, ProtocolActor } from '../../../parts/tokens/protocol-actor.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Code } from '../../../ui/code.tsx';
import { Time } from '../../../ui/time.tsx';
import { EventMenu } from '../event-menu.tsx';
import { LazyStoredParts } from './attachments/lazy-stored-parts.tsx';

const userNameOf = ({ sender, actor }: SaidItem) => sender?.name ?? SENDERS[actor.type] ?? 'User';

export interface MessageProps {
  message: SaidItem;
  session: Session;
  mayWrite: boolean;
  onRaw: (event: number) => void;
}

const SENDERS: Partial<Record<SaidItem['actor']['type'], string>> = {
  trigger: 'Trigger',
  schedule: 'Schedule',
  channel: 'Channel',
};

export function Message({ message, session, mayWrite, onRaw }: MessageProps) {
  if (message.kind === 'thinking') return <Thinking text={message.text} />;
  const isUser = message.kind === 'user';
  const sender = isUser ? userNameOf(message) : 'Agent';
  return (
    <article aria-label={`Message from ${sender}`} className={isUser ? 'flex flex-col items-end' : ''}>
      <div className="mb-1 flex items-center gap-2 text-xs text-muted">
        <bdi className="font-medium">{sender}</bdi>
        {message.sender && <span>{providerName(message.sender.provider)}</span>}
        {isProtocolActor(message.actor) && (
          <span>
            <ProtocolActor actor={message.actor} ownerId={session.created_by} />
          </span>
        )}
        <Time at={message.createdAt} />
        {message.isPinned && <Badge>Pinned</Badge>}
        {message.isQueued && <Badge>Queued</Badge>}
        {message.deliveredStep !== undefined && <Badge>Delivered before step {message.deliveredStep}</Badge>}
        {!message.isDraft && (
          <EventMenu
            session={session}
            seq={message.seq}
            text={message.text}
            mayFork={mayWrite}
            onRaw={onRaw}
          />
        )}
      </div>
      <div
        className={
          isUser
            ? 'max-w-full rounded-2xl rounded-tr-md bg-accent-soft px-4 py-2.5'
            : 'max-w-full leading-relaxed'
        }
      >
        {message.output !== undefined ? (
          <Code wrap text={jsonText(message.output)} label="Structured output" />
        ) : isUser ? (
          <p className="text-start whitespace-pre-wrap wrap-anywhere [unicode-bidi:plaintext]" dir="auto">
            {message.text}
          </p>
        ) : (
          <MarkdownView text={message.text} isStreaming={message.isDraft} />
        )}
        {message.isDraft && (
          <span
            aria-hidden
            className="ms-0.5 inline-block h-4 w-1.5 rounded-sm bg-accent align-text-bottom motion-safe:animate-blink"
          />
        )}
        <LazyStoredParts parts={message.storedParts} sessionId={session.session_id} />
        {message.otherParts.length > 0 && (
          <Code text={jsonText(message.otherParts)} label="Non-text content" />
        )}
      </div>
    </article>
  );
}

function Thinking({ text }: { text: string }) {
  return (
    <details className="group text-[13px] text-muted">
      <summary className="inline-flex cursor-pointer list-none items-center gap-1.5 rounded hover:text-ink">
        <Brain className="size-3.5" aria-hidden />
        Reasoning
        <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" aria-hidden />
      </summary>
      <p className="mt-1 border-s-2 border-line ps-3 whitespace-pre-wrap wrap-anywhere" dir="auto">
        {text}
      </p>
    </details>
  );
}
