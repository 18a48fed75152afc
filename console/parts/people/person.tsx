import { usePerson } from './people.ts';
import { useViewer } from './viewer.ts';

/** Who has done something: by name where the viewer may know it, otherwise by id. */
export function Person({ id }: { id: string | null }) {
  const { user } = useViewer();
  const person = usePerson(id);
  if (id === null) return <>the service</>;
  if (id === user?.user_id) return <>you</>;
  const name = person?.display_name || person?.email;
  if (name) {
    return (
      <bdi title={id} className="inline-block max-w-full truncate align-bottom font-medium">
        {name}
      </bdi>
    );
  }
  return (
    <code className="font-mono text-[13px]" title={id}>
      {id}
    </code>
  );
}
