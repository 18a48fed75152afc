import { useEffect, useRef, useState } from 'react';
import type { InvocationLog } from '../../../../api/invocations.ts';
import { rejectionText } from './rejection-reasons.ts';

/** Announces requests that arrived after the page was opened to screen readers, with the result of the last one. */
export function useNewRequestAnnouncement(log: InvocationLog | undefined): string {
  const [text, setText] = useState('');
  const newestSeen = useRef<string>(undefined);
  useEffect(() => {
    if (!log) return;
    const [newest] = log.entries;
    const before = newestSeen.current;
    newestSeen.current = newest?.invocation_id ?? '';
    if (before === undefined || !newest || newest.invocation_id <= before) return;
    const count = log.entries.findIndex(({ invocation_id: id }) => id <= before);
    const newRequests = count === -1 ? log.entries.length : count;
    const last =
      newest.result === 'accepted'
        ? 'Accepted; a session was started.'
        : `Rejected. ${rejectionText(newest.reason)}`;
    setText(
      newRequests === 1 ? `New request. ${last}` : `${newRequests} new requests. Last request: ${last}`,
    );
  }, [log]);
  return text;
}
