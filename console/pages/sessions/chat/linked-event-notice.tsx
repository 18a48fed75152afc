import type { LinkedEvent } from '../../../journal/view.ts';
import { messageOf } from '../../../parts/errors/error-state.tsx';

/** States above the composer why the linked event is not shown. Renders nothing when it is. */
export function LinkedEventNotice({ linked }: { linked: LinkedEvent | undefined }) {
  const text = linked && noticeOf(linked);
  if (text === undefined) return null;
  return (
    <p role="alert" className="mx-4 mb-2 rounded-lg bg-warn-soft px-3 py-2 text-warn sm:mx-8">
      {text}
    </p>
  );
}

function noticeOf(linked: LinkedEvent): string | undefined {
  switch (linked.state) {
    case 'missing':
      return `Event ${linked.seq} does not exist in this session.`;
    case 'failed':
      return `Event ${linked.seq} could not be loaded. ${messageOf(linked.error)}`;
    case 'loading':
    case 'loaded':
      return undefined;
  }
}
