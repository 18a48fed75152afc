import { useMutation } from '@tanstack/react-query';
import { Problem } from '../../parts/faults/failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

export interface UnseenProps {
  onKeep: () => void;
  /** Deletes the trigger and creates another. */
  onAnother: () => Promise<void>;
}

/** Stands in for the secret when it was in an answer that never came. */
export function Unseen({ onKeep, onAnother }: UnseenProps) {
  const replacing = useMutation({ mutationFn: onAnother, gcTime: 0 });
  return (
    <Dialog open title="The trigger was created, and its secret is gone" initialFocus="title">
      <p className="text-muted">
        An earlier attempt has created the trigger; the answer with the secret did not arrive. A secret is
        shown once and cannot be read again, so nobody can sign requests for this trigger.
      </p>
      <Problem error={replacing.error} />
      <DialogActions>
        <Button onClick={onKeep}>Keep it without a secret</Button>
        <Button look="primary" busy={replacing.isPending} onClick={() => replacing.mutate()}>
          Delete it and create another
        </Button>
      </DialogActions>
    </Dialog>
  );
}
