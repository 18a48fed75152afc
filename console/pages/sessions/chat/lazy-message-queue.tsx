import { lazy, Suspense } from 'react';
import { waitingCount } from '../../../api/queue.ts';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import type { MessageQueueProps } from './message-queue.tsx';

const MessageQueue = lazy(async () => ({
  default: (await loadChunk(() => import('./message-queue.tsx'))).MessageQueue,
}));

/** The queue of a session. Its code loads when the first message waits. */
export function LazyMessageQueue(props: MessageQueueProps) {
  if (waitingCount(props.session) === 0) return null;
  return (
    <Suspense>
      <MessageQueue {...props} />
    </Suspense>
  );
}
