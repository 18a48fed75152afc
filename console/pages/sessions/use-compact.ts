import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sessions } from '../../api/sessions.ts';
import { useIdempotencyKeys } from '../../parts/actions/idempotency-key.ts';
import { messageOf } from '../../parts/errors/error-state.tsx';
import { toast } from '../../ui/toast.tsx';

export interface CompactAction {
  compact: () => void;
  isCompacting: boolean;
}

/** Shortens what the model gets of a session. A turn does the work, which the conversation shows. */
export function useCompact(sessionId: string): CompactAction {
  const queries = useQueryClient();
  const { keyFor, renew } = useIdempotencyKeys();
  const { mutate, isPending } = useMutation({
    mutationFn: () => sessions.compact(sessionId, keyFor(sessionId)),
    onSuccess: ({ turn_id: turnId }) => {
      renew();
      toast.done(turnId === null ? NOTHING : 'The conversation will be shortened for the model.');
      void queries.invalidateQueries({ ...sessions.detail(sessionId), exact: true });
    },
    onError: (error) => toast.failed('The conversation could not be shortened.', messageOf(error)),
  });
  return { compact: mutate, isCompacting: isPending };
}

const NOTHING = 'There is nothing to compact. The newest turns stay as they are.';
