import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';

export function DeleteAssistant({ assistant: { assistant_id: id, name } }: { assistant: Assistant }) {
  return (
    <DeleteResource
      noun="assistant"
      id={id}
      name={name}
      path={`/assistants/${id}`}
      run={() => assistants.remove(id)}
    >
      <p>
        Deletes the workspace with all its files. No new conversations can start; existing sessions stay
        readable. This cannot be undone. To pause the assistant, disable it instead.
      </p>
    </DeleteResource>
  );
}
