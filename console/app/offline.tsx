import { TriangleAlert } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useWaitingPiece, type Wait } from '../parts/piece.ts';
import { classes } from '../ui/classes.ts';

function listen(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}

interface Said {
  brief: string;
  whole: string;
}

const NO_NETWORK: Said = {
  brief: 'No network',
  whole: 'No network. It goes on by itself when it is back.',
};
const WAITS: Record<Wait, Said> = {
  unreachable: {
    brief: 'The service cannot be reached',
    whole: 'The service cannot be reached. It goes on by itself when it is back.',
  },
  outdated: {
    brief: 'Save to go on',
    whole: 'There is a newer release. The page becomes it as soon as your changes are saved.',
  },
};

/** Says that there is no network, or what a page waits for. */
export function Offline({ brief = false, className }: { brief?: boolean; className?: string }) {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine);
  const wait = useWaitingPiece();
  const said = isOnline ? wait && WAITS[wait] : NO_NETWORK;
  return (
    <p role="status" className={classes('text-[13px] text-warn', className)}>
      {said && (
        <span className="flex items-center gap-1.5 rounded-lg bg-warn-soft px-2.5 py-1.5">
          <TriangleAlert className="size-4 shrink-0" aria-hidden />
          {brief ? said.brief : said.whole}
        </span>
      )}
    </p>
  );
}
