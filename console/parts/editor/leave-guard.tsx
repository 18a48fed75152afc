import { useBlocker } from '@tanstack/react-router';
import { useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

export interface LeaveGuardProps {
  isDirty: boolean;
  /** Changing the tab of the page also discards the changes. */
  tabs?: boolean;
  /** Texts of the question. Default: those for unsaved changes. */
  title?: string;
  description?: string;
}

/** Asks for a confirmation before the user leaves a page with unsaved changes. */
export function LeaveGuard({
  isDirty,
  tabs = false,
  title = 'Leave without saving?',
  description = 'Your unsaved changes will be lost.',
}: LeaveGuardProps) {
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
      title={title}
      description={description}
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
