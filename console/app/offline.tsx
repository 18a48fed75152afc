import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useWaitingPiece } from '../parts/piece.ts';
import { classes } from '../ui/classes.ts';

function listen(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}

/** Says that there is no network, or that a page waits for the service: it goes on when they are back. */
export function Offline({ brief = false, className }: { brief?: boolean; className?: string }) {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine);
  const isWaiting = useWaitingPiece();
  const text = isOnline ? 'The service cannot be reached' : 'No network';
  return (
    <p role="status" className={classes('text-[13px] text-warn', className)}>
      {(!isOnline || isWaiting) && (
        <span className="flex items-center gap-1.5 rounded-lg bg-warn-soft px-2.5 py-1.5">
          <WifiOff className="size-4 shrink-0" aria-hidden />
          {brief ? text : `${text}. It goes on by itself when it is back.`}
        </span>
      )}
    </p>
  );
}
