import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { connections } from '../../api/connections.ts';
import type { Connection } from '../../gen/index.ts';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';

/** Whether turns that a deployment starts can use the connection. A change is saved immediately. */
export function Consent({ connection }: { connection: Connection }) {
  const { connection_id: id, name, revision, use_in_triggered_sessions: isAllowed } = connection;
  const queries = useQueryClient();
  // The state of the mutation follows only in a later task, until which the box would show the stored value again.
  const [chosen, setChosen] = useState<boolean>();
  const { mutate, error } = useMutation({
    mutationFn: (allowed: boolean) => connections.update(id, revision, allowed),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: connections.all.queryKey });
      setChosen(undefined);
    },
  });
  return (
    <div>
      <Checkbox
        checked={chosen ?? isAllowed}
        onChange={(allowed) => {
          if (chosen !== undefined) return;
          setChosen(allowed);
          mutate(allowed);
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
