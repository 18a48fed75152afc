import { GitCompareArrows } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Diff } from '../diff/diff.tsx';
import type { DisplayedField } from '../diff/fields.ts';

export interface StaleNoticeProps {
  /** Kind of the resource: agent, environment. */
  noun: string;
  /** The current version. */
  theirs: readonly DisplayedField[];
  /** The current version with the user's changes applied. */
  mine: readonly DisplayedField[];
  onReload: () => void;
  onKeep: () => void;
}

/** Edit conflict: another user has saved a newer version. Offers a comparison, reload and rebase. */
export function StaleNotice({ noun, theirs, mine, onReload, onKeep }: StaleNoticeProps) {
  const [isOpen, setOpen] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The notice may have replaced the focused element.
    if (document.activeElement === document.body) first.current?.focus();
  }, []);
  return (
    <div role="alert" className="mb-3 rounded-xl border border-warn bg-warn-soft p-3">
      <p className="font-medium">Another user changed this {noun} while you were editing.</p>
      <p className="mt-0.5">
        Your changes are not saved. Review the differences, then discard your changes or apply them to the new
        version.
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button ref={first} onClick={() => setOpen(true)}>
          <GitCompareArrows aria-hidden />
          Show differences
        </Button>
        <Button onClick={onReload}>Discard my changes</Button>
        <Button onClick={onKeep}>Keep my changes</Button>
      </div>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        wide
        initialFocus="title"
        title="Differences"
        description="The current version compared with your changes applied to it."
      >
        <Diff before={theirs} after={mine} />
      </Dialog>
    </div>
  );
}
