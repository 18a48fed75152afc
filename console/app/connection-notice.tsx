import { TriangleAlert } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { type LoadObstacle, useLoadObstacle } from '../parts/navigation/load-chunk.ts';
import { classes } from '../ui/classes.ts';

function listen(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}

interface NoticeText {
  brief: string;
  full: string;
}

const NO_NETWORK: NoticeText = {
  brief: 'No network',
  full: 'No network. The page reconnects automatically.',
};
const NOTICES: Record<LoadObstacle, NoticeText> = {
  unreachable: {
    brief: 'The service cannot be reached',
    full: 'The service cannot be reached. The page reconnects automatically.',
  },
  outdated: {
    brief: 'Save to update',
    full: 'A newer release is available. The page reloads after you save your changes.',
  },
};

/** Shows that the network is down, or the reason why a page cannot load. */
export function ConnectionNotice({ brief = false, className }: { brief?: boolean; className?: string }) {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine);
  const wait = useLoadObstacle();
  const notice = isOnline ? wait && NOTICES[wait] : NO_NETWORK;
  return (
    <p role="status" className={classes('text-[13px] text-warn', className)}>
      {notice && (
        <span className="flex items-center gap-1.5 rounded-lg bg-warn-soft px-2.5 py-1.5">
          <TriangleAlert className="size-4 shrink-0" aria-hidden />
          {brief ? notice.brief : notice.full}
        </span>
      )}
    </p>
  );
}
