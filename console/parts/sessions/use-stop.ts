import { useMutation, useQueryClient } from '@tanstack/react-query';
import { cacheSession, sessions } from '../../api/sessions.ts';
import { toast } from '../../ui/toast.tsx';
import { messageOf } from '../errors/error-state.tsx';

export interface StopAction {
  stop: (sessionId: string) => void;
  isStopping: boolean;
}

/** Stops a session: its current turn ends, and its queue is held. */
export function useStop(onStopped?: () => void): StopAction {
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: sessions.stop,
    onSuccess: (session) => {
      cacheSession(queries, session);
      toast.done(stoppedText(session.queued_turns));
      onStopped?.();
    },
    onError: (error) => toast.failed('The session could not be stopped.', messageOf(error)),
  });
  return { stop: mutate, isStopping: isPending };
}

function stoppedText(queuedTurns: number): string {
  if (queuedTurns === 0) return 'The session was stopped.';
  const messages = queuedTurns === 1 ? '1 queued message waits' : `${queuedTurns} queued messages wait`;
  return `The session was stopped. ${messages} until the queue continues.`;
}
