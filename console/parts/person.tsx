import { useViewer } from './viewer.ts';

/** Who has done something, by the id the service knows them by. */
export function Person({ id }: { id: string | null }) {
  const { user } = useViewer();
  if (id === null) return <>the service</>;
  if (id === user?.user_id) return <>you</>;
  return (
    <code className="font-mono text-[13px]" title={id}>
      {id}
    </code>
  );
}
