import { useMutation } from '@tanstack/react-query';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';

export interface LostSecretDialogProps {
  onKeep: () => void;
  /** Deletes the webhook and creates another. */
  onAnother: () => Promise<void>;
}

/** Shown when the response with the secret was lost. */
export function LostSecretDialog({ onKeep, onAnother }: LostSecretDialogProps) {
  const replacing = useMutation({ mutationFn: onAnother, gcTime: 0 });
  return (
    <Dialog open title="The webhook was created, but its secret was lost" initialFocus="title">
      <p className="text-muted">
        An earlier attempt created the webhook, but the response with the secret did not arrive. A secret
        cannot be displayed again, so requests for this webhook cannot be signed.
      </p>
      <ErrorAlert error={replacing.error} />
      <DialogActions>
        <Button onClick={onKeep}>Keep without a secret</Button>
        <Button look="primary" busy={replacing.isPending} onClick={() => replacing.mutate()}>
          Delete and create another
        </Button>
      </DialogActions>
    </Dialog>
  );
}
