import { useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { runs } from '../../../api/runs.ts';
import type { Schedule } from '../../../gen/index.ts';
import { ActionButton } from '../../../parts/actions/action-button.tsx';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { Button } from '../../../ui/button.tsx';
import { requests } from '../requests.ts';

/** Starts a run outside of the schedule. */
export function RunNow({ schedule }: { schedule: Schedule }) {
  const queries = useQueryClient();
  const { keyFor, renew } = useIdempotencyKeys();
  return (
    <ActionButton
      button={
        <Button>
          <Play aria-hidden />
          Run now
        </Button>
      }
      title={`Run ${schedule.name} now?`}
      action="Run now"
      isMild
      run={() => runs.run(schedule, undefined, keyFor(schedule.deployment_id))}
      curl={requests.run(schedule)}
      done="The run is queued."
      onDone={() => {
        renew();
        return queries.invalidateQueries({ queryKey: ['deployments', schedule.deployment_id, 'runs'] });
      }}
    >
      <p>Starts a run with the current prompt, beside the scheduled ones.</p>
    </ActionButton>
  );
}
