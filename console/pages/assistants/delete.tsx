import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { DeleteThing } from '../../parts/editor/delete-thing.tsx';

export function DeleteAssistant({ assistant: { assistant_id: id, name } }: { assistant: Assistant }) {
  return (
    <DeleteThing
      noun="assistant"
      id={id}
      name={name}
      path={`/assistants/${id}`}
      run={() => assistants.remove(id)}
    >
      <p>
        Its workspace goes with all the files in it, and it starts nothing any more. What was said in its
        sessions stays readable. There is no way back; to stop it for a while, disable it instead.
      </p>
    </DeleteThing>
  );
}
