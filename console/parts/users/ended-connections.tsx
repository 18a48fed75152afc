import { useQuery } from '@tanstack/react-query';
import { connections } from '../../api/connections.ts';

/** Marks that the user has to connect to servers again, with their number. */
export function EndedConnections() {
  const { data } = useQuery({ ...connections.all, retry: false });
  const count = data?.connections.filter(isEnded).length ?? 0;
  if (count === 0) return null;
  return (
    <span className="shrink-0 rounded-full bg-warn-soft px-2 text-xs font-medium text-warn">
      <span aria-hidden>{count}</span>
      <span className="sr-only">{count === 1 ? '1 connection' : `${count} connections`} to renew</span>
    </span>
  );
}

/** Whether the user has to connect again. */
export const isEnded = ({ status }: { status: string }) =>
  status === 'needs_connection' || status === 'refused';
