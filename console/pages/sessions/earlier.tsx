import type { JournalView } from '../../journal/view.ts';
import { Problem } from '../../parts/faults/failure.tsx';
import { Button } from '../../ui/button.tsx';

export interface EarlierProps {
  view: JournalView;
  onEarlier: () => void;
  /** What is shown then. */
  children: string;
}

/** The way to what is older than all that is shown; nothing when there is nothing. */
export function Earlier({ view, onEarlier, children }: EarlierProps) {
  if (!view.hasEarlier) return null;
  return (
    <div className="flex flex-col items-center gap-2">
      <Button small busy={view.isLoadingEarlier} onClick={onEarlier}>
        {children}
      </Button>
      <Problem error={view.earlierError} />
    </div>
  );
}
