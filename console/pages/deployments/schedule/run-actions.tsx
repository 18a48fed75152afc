import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, RotateCcw, Square, Terminal } from 'lucide-react';
import { isUnfinished, runs } from '../../../api/runs.ts';
import type { Run, Schedule } from '../../../gen/index.ts';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { messageOf } from '../../../parts/errors/error-state.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { copyText, toast } from '../../../ui/toast.tsx';
import { pathOf } from '../requests.ts';

/** Menu with the actions of a run. */
export function RunActions({ schedule, run }: { schedule: Schedule; run: Run }) {
  const { run_id: runId, count } = run;
  const queries = useQueryClient();
  const curlOf = useCurl();
  const { keyFor, renew } = useIdempotencyKeys();
  const refresh = () =>
    queries.invalidateQueries({ queryKey: ['deployments', schedule.deployment_id, 'runs'] });
  const replay = useMutation({
    mutationFn: () => runs.replay(schedule, runId, keyFor(runId)),
    onSuccess: () => {
      renew();
      toast.done('The run is queued again.');
      return refresh();
    },
    onError: (error) => toast.failed('The run could not be replayed.', messageOf(error)),
  });
  const cancel = useMutation({
    mutationFn: () => runs.cancel(schedule, runId),
    onSuccess: () => {
      toast.done('The run was cancelled.');
      return refresh();
    },
    onError: (error) => toast.failed('The run could not be cancelled.', messageOf(error)),
  });
  const isOpen = isUnfinished(run);
  const verb = isOpen ? 'cancel' : 'replay';
  return (
    <Menu trigger={<IconButton label={`Actions for run ${runId}`} icon={<Ellipsis />} />}>
      {isOpen ? (
        <MenuItem icon={<Square />} danger onSelect={() => cancel.mutate()}>
          Cancel
        </MenuItem>
      ) : (
        count === 1 && (
          <MenuItem icon={<RotateCcw />} onSelect={() => replay.mutate()}>
            Replay
          </MenuItem>
        )
      )}
      <MenuItem
        icon={<Terminal />}
        onSelect={() =>
          void copyText(curlOf({ method: 'POST', path: `${pathOf(schedule)}/runs/${runId}/${verb}` }))
        }
      >
        Copy as curl
      </MenuItem>
    </Menu>
  );
}
