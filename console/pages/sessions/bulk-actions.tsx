import { useMutation, useQueryClient } from '@tanstack/react-query';
import { OctagonX } from 'lucide-react';
import { useState } from 'react';
import { isStoppable } from '../../api/session-state.ts';
import { STOP, sessions as sessionsApi } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { messageOf } from '../../parts/errors/error-state.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Selection } from './selection.ts';
import { sessionCount, stopAll } from './stop-all.ts';

export interface BulkActionsProps {
  /** The loaded sessions of the list. */
  sessions: readonly Session[];
  selection: Selection;
}

/** Selects all loaded sessions and stops the selected ones. */
export function BulkActions({ sessions, selection: { ids, select } }: BulkActionsProps) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const selected = sessions.filter(({ session_id: id }) => ids.has(id));
  const stoppable = selected.filter(isStoppable);
  const isAllSelected = selected.length === sessions.length;
  const { mutate, isPending } = useMutation({
    mutationFn: (chosen: readonly string[]) => stopAll(chosen, sessionsApi.stop),
    onSuccess: ({ stopped, failedIds, error }) => {
      setAsking(false);
      select(failedIds);
      if (stopped > 0)
        toast.done(stopped === 1 ? '1 session was stopped.' : `${stopped} sessions were stopped.`);
      if (failedIds.length > 0)
        toast.failed(`${sessionCount(failedIds.length)} could not be stopped.`, messageOf(error));
      return queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
    },
  });
  if (sessions.length === 0) return null;
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2 ps-4 text-[13px]">
      <Checkbox
        checked={isAllSelected}
        onChange={(checked) => select(checked ? sessions.map(({ session_id: id }) => id) : [])}
      >
        Select all
      </Checkbox>
      <p role="status" className="text-muted">
        {selected.length > 0 && `${selected.length} selected, ${stoppable.length} active`}
      </p>
      {selected.length > 0 && (
        <Button small disabled={stoppable.length === 0} onClick={() => setAsking(true)}>
          <OctagonX aria-hidden />
          Stop {sessionCount(stoppable.length)}
        </Button>
      )}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Stop ${sessionCount(stoppable.length)}?`}
        action="Stop"
        busy={isPending}
        onConfirm={() => mutate(stoppable.map(({ session_id: id }) => id))}
        below={<CopyCurl method="POST" path="/sessions/SESSION_ID/interrupt" body={STOP} />}
      >
        <p>Ends their current turns immediately. Queued messages wait until the queue continues.</p>
      </ConfirmDialog>
    </div>
  );
}
