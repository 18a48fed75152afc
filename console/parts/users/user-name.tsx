import { nameOf } from './people-search.ts';
import { useUser } from './users.ts';
import { useViewer } from './viewer.ts';

/** A user's name, or the id of an unknown user. */
export function UserName({ id }: { id: string | null }) {
  const { user } = useViewer();
  const isViewer = id === user?.user_id;
  const { data, isLoading } = useUser(isViewer ? null : id);
  const name = nameOf(data);
  if (id === null) return <>the service</>;
  if (isViewer) return <>you</>;
  if (name) {
    return (
      <bdi title={id} className="inline-block max-w-full truncate align-bottom font-medium">
        {name}
      </bdi>
    );
  }
  if (isLoading) return <>…</>;
  return (
    <code className="font-mono text-[13px]" title={id}>
      {id}
    </code>
  );
}
