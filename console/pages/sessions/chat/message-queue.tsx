import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Play, X } from 'lucide-react';
import { useState } from 'react';
import { isNotFound } from '../../../api/client.ts';
import { type QueuedMessage, waitingCount, waitingMessages } from '../../../api/queue.ts';
import { cacheSession, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { messageOf, RetryButton, RetryFailedText } from '../../../parts/errors/error-state.tsx';
import { type QueryFailure, useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { toast } from '../../../ui/toast.tsx';

export interface QueueEditor {
  /** Puts a removed message into the composer. */
  onEdit: (message: QueuedMessage) => void;
  /** The element with the focus is gone. */
  onFocusLost: () => void;
}

export interface MessageQueueProps {
  session: Session;
  /** Undefined for a viewer who cannot change the queue. */
  editor?: QueueEditor;
}

/** The messages that wait behind the current turn or in a held queue. Each can be edited and removed. */
export function MessageQueue({ session, editor }: MessageQueueProps) {
  const { session_id: sessionId, queue_held: isHeld } = session;
  const count = waitingCount(session);
  const query = useQuery(sessions.queue(sessionId, session.last_seq));
  const failure = useQueryFailure(query);
  const { mutate: remove, isPending: isRemoving, removedIds } = useRemove(sessionId, editor);
  if (isNotFound(failure?.error)) return null;
  const left = (query.data ?? []).filter(({ turnId }) => !removedIds.includes(turnId));
  const messages = waitingMessages(session, left);
  const removeMessage = (message: QueuedMessage, isEdit: boolean) =>
    remove({ message, isEdit, isLast: messages.length <= 1 });
  return (
    <section
      aria-label="Queued messages"
      className="mx-auto mb-2 max-w-3xl rounded-xl border border-line bg-surface py-1.5 ps-3 pe-1.5"
    >
      <div className="flex min-h-8 flex-wrap items-center gap-2">
        <p role="status" className="min-w-0 flex-1 text-[13px] text-muted">
          {queueText(count, isHeld, editor !== undefined)}
        </p>
        {isHeld && editor && <ContinueButton sessionId={sessionId} onDone={editor.onFocusLost} />}
      </div>
      {failure && <QueueFailure {...failure} />}
      {/* Takes the focus when the focused message is removed. */}
      <ol tabIndex={-1} className="max-h-40 divide-y divide-line overflow-y-auto outline-none">
        {messages.map((message, index) => (
          <QueuedMessageItem
            key={message.turnId}
            message={message}
            position={index + 1}
            isRemoving={isRemoving}
            onRemove={editor && ((isEdit) => removeMessage(message, isEdit))}
          />
        ))}
      </ol>
    </section>
  );
}

function queueText(count: number, isHeld: boolean, isEditable: boolean): string {
  const messages = count === 1 ? '1 message' : `${count} messages`;
  if (!isHeld) return `${messages} queued`;
  return isEditable ? `${messages} on hold. Continue to send.` : `${messages} on hold`;
}

function QueueFailure({ error, isRetrying, onRetry }: QueryFailure) {
  return (
    <div className="flex flex-wrap items-center gap-2 pb-1 text-[13px] text-bad">
      <p role="alert" aria-atomic={false} className="min-w-0 flex-1 basis-60 wrap-anywhere">
        <RetryFailedText isRetrying={isRetrying} />
        The queued messages could not be loaded. {messageOf(error)}
      </p>
      <RetryButton isRetrying={isRetrying} onRetry={onRetry} />
    </div>
  );
}

function ContinueButton({ sessionId, onDone }: { sessionId: string; onDone: () => void }) {
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => sessions.releaseQueue(sessionId),
    onSuccess: (session) => {
      cacheSession(queries, session);
      onDone();
    },
    onError: (error) => toast.failed('The queue could not continue.', messageOf(error)),
  });
  return (
    <Button small busy={isPending} onClick={() => mutate()}>
      <Play aria-hidden />
      Continue
    </Button>
  );
}

interface Removal {
  message: QueuedMessage;
  /** The text goes into the composer. */
  isEdit: boolean;
  /** No other message is in the queue. */
  isLast: boolean;
}

/** Removes turns from the queue. A removal is pending until the session is up to date. */
function useRemove(sessionId: string, editor: QueueEditor | undefined) {
  const queries = useQueryClient();
  // The list of the queue is older than the removal until it has been requested again.
  const [removedIds, setRemovedIds] = useState<readonly string[]>([]);
  const removing = useMutation({
    mutationFn: ({ message: { turnId } }: Removal) => sessions.removeFromQueue(sessionId, turnId),
    // Runs also when another view was opened meanwhile, so that the text of an edited message is not lost.
    onSuccess: (_, { message, isEdit, isLast }) => {
      setRemovedIds((before) => [...before, message.turnId]);
      if (isEdit) editor?.onEdit(message);
      else if (isLast) editor?.onFocusLost();
    },
    onError: (error) => toast.failed('The message could not be removed.', messageOf(error)),
    onSettled: () => queries.invalidateQueries({ ...sessions.detail(sessionId), exact: true }),
  });
  return { ...removing, removedIds };
}

interface QueuedMessageItemProps {
  message: QueuedMessage;
  /** From 1. */
  position: number;
  isRemoving: boolean;
  /** With `isEdit` the text goes into the composer. Undefined for a viewer who cannot change the queue. */
  onRemove: ((isEdit: boolean) => void) | undefined;
}

function QueuedMessageItem({ message, position, isRemoving, onRemove }: QueuedMessageItemProps) {
  const { text, hasOtherParts, isSteering, isPinned } = message;
  return (
    <li className="flex items-center gap-1">
      <p dir="auto" title={text} className="line-clamp-2 min-w-0 flex-1 py-1 text-[13px] wrap-anywhere">
        {text || 'Message without text'}
      </p>
      {isSteering && <Badge>Before the next step</Badge>}
      {isPinned && <Badge>Pinned</Badge>}
      {onRemove && !hasOtherParts && (
        <IconButton
          label={`Edit queued message ${position}`}
          icon={<Pencil />}
          aria-disabled={isRemoving || undefined}
          onClick={isRemoving ? undefined : () => onRemove(true)}
        />
      )}
      {onRemove && (
        <IconButton
          label={`Remove queued message ${position}`}
          icon={<X />}
          aria-disabled={isRemoving || undefined}
          onClick={isRemoving ? undefined : () => onRemove(false)}
        />
      )}
    </li>
  );
}
