import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import type { VaultDraft } from './draft.ts';

export interface VaultFieldsProps {
  draft: VaultDraft;
  onChange: (changes: Partial<VaultDraft>) => void;
  problems: FieldProblems;
}

export function VaultFields({ draft, onChange, problems }: VaultFieldsProps) {
  return (
    <div className="flex flex-col gap-4">
      <Field label="Name" hint="Unique among shared vaults." error={problemAt(problems, '/name')}>
        <Input
          value={draft.name}
          placeholder="Deployment keys"
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      <Field label="Description" optional error={problemAt(problems, '/description')}>
        <TextArea
          value={draft.description}
          onChange={(event) => onChange({ description: event.target.value })}
        />
      </Field>
    </div>
  );
}
