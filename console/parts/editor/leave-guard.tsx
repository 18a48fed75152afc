import { useBlocker } from '@tanstack/react-router';
import { useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

export interface LeaveGuardProps {
  isDirty: boolean;
  /** Another tab of the same page loses it, too. */
  tabs?: boolean;
}

/** Asks before a page is left on which something is not saved. */
export function LeaveGuard({ isDirty, tabs = false }: LeaveGuardProps) {
  const stay = useRef<HTMLButtonElement>(null);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && (tabs || current.pathname !== next.pathname),
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <Dialog
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title="Leave without saving?"
      description="What you have changed here is lost then."
      initialFocus={stay}
    >
      <DialogActions>
        <Button ref={stay} onClick={() => reset?.()}>
          Stay
        </Button>
        <Button look="danger" onClick={() => proceed?.()}>
          Leave
        </Button>
      </DialogActions>
    </Dialog>
  );
}
