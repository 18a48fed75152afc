import { useEffect, useRef, useState } from 'react';
import type { InvocationLog } from '../../../api/invocations.ts';
import { wordsFor } from './reasons.ts';

/** What has come since the page was opened, for those who hear it: the last of it in words. */
export function useArrivals(log: InvocationLog | undefined): string {
  const [text, setText] = useState('');
  const seen = useRef<string>(undefined);
  useEffect(() => {
    if (!log) return;
    const [newest] = log.entries;
    const before = seen.current;
    seen.current = newest?.invocation_id ?? '';
    if (before === undefined || !newest || newest.invocation_id <= before) return;
    const count = log.entries.findIndex(({ invocation_id: id }) => id <= before);
    const fresh = count === -1 ? log.entries.length : count;
    const last =
      newest.result === 'accepted'
        ? 'Accepted; it has started a session.'
        : `Refused. ${wordsFor(newest.reason)}`;
    setText(fresh === 1 ? `New request. ${last}` : `${fresh} new requests. The last one: ${last}`);
  }, [log]);
  return text;
}
