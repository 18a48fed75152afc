import { GitCompareArrows } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Diff } from '../diff/diff.tsx';
import type { ShownField } from '../diff/fields.ts';

export interface StaleProps {
  /** What it is: agent, environment. */
  noun: string;
  /** As it is now. */
  theirs: readonly ShownField[];
  /** The same with one's own changes. */
  mine: readonly ShownField[];
  onReload: () => void;
  onKeep: () => void;
}

/** Says that somebody else has changed what one is changing, and what can be done about it. */
export function Stale({ noun, theirs, mine, onReload, onKeep }: StaleProps) {
  const [isOpen, setOpen] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // What had the focus may have made way for this.
    if (document.activeElement === document.body) first.current?.focus();
  }, []);
  return (
    <div role="alert" className="mb-3 rounded-xl border border-warn bg-warn-soft p-3">
      <p className="font-medium">Somebody has changed this {noun} since you began.</p>
      <p className="mt-0.5">
        Nothing of yours is saved or lost. Look at the difference, then take theirs or keep your changes on
        top.
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button ref={first} onClick={() => setOpen(true)}>
          <GitCompareArrows aria-hidden />
          Show the difference
        </Button>
        <Button onClick={onReload}>Reload without mine</Button>
        <Button onClick={onKeep}>Keep my changes</Button>
      </div>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        wide
        initialFocus="title"
        title="What your changes make of it"
        description="From what it is now to what it is with your changes on top."
      >
        <Diff before={theirs} after={mine} />
      </Dialog>
    </div>
  );
}
