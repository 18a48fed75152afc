import { GitCompareArrows } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Diff } from '../diff/diff.tsx';
import type { ShownField } from '../diff/fields.ts';

export interface StaleProps {
  /** What it is: agent, environment. */
  noun: string;
  /** As it is now. */
  theirs: readonly ShownField[];
  /** As one wants to have it. */
  mine: readonly ShownField[];
  onReload: () => void;
  onKeep: () => void;
}

/** Says that somebody else has changed what one is changing, and what can be done about it. */
export function Stale({ noun, theirs, mine, onReload, onKeep }: StaleProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div role="alert" className="my-4 rounded-xl border border-warn bg-warn-soft p-4">
      <p className="font-medium">Somebody has changed this {noun} since you began.</p>
      <p className="mt-0.5">
        Nothing of yours is saved or lost. Look at the difference, then take theirs or keep your changes on
        top.
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button onClick={() => setOpen(true)}>
          <GitCompareArrows aria-hidden />
          Show the difference
        </Button>
        <Button onClick={onReload}>Reload, without my changes</Button>
        <Button onClick={onKeep}>Keep my changes</Button>
      </div>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        wide
        title="From what it is now to what you have"
        description="Added is what only you have, removed what only they have."
      >
        <Diff before={theirs} after={mine} />
      </Dialog>
    </div>
  );
}
