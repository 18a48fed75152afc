import { useMutation, useQueryClient } from '@tanstack/react-query';
import { connections } from '../../api/connections.ts';
import type { Connection } from '../../gen/index.ts';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';

/** Whether turns that a deployment starts can use the connection. A change is saved immediately. */
export function Consent({ connection }: { connection: Connection }) {
  const { connection_id: id, name, revision, use_in_triggered_sessions: isAllowed } = connection;
  const queries = useQueryClient();
  const { mutate, isPending, variables, error } = useMutation({
    mutationFn: (allowed: boolean) => connections.update(id, revision, allowed),
    // After an error the list shows the stored value again.
    onSettled: () => queries.invalidateQueries({ queryKey: connections.all.queryKey }),
  });
  return (
    <div>
      <Checkbox
        checked={isPending ? variables : isAllowed}
        onChange={(allowed) => {
          if (!isPending) mutate(allowed);
        }}
      >
        Use in runs of my deployments
        <span className="sr-only">: {name}</span>
        <span className="block text-[13px] text-muted">
          They run when an event arrives or a time is due, and you are not asked before.
        </span>
      </Checkbox>
      <ErrorAlert error={error} />
    </div>
  );
}
