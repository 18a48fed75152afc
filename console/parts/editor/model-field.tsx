import { useQuery } from '@tanstack/react-query';
import { models } from '../../api/models.ts';
import { Field, Input } from '../../ui/field.tsx';
import { describeModel, modelChoices } from './model-choices.ts';

export interface ModelFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

const HINT = '<provider>/<model ID>. Endpoints configured by the operator have their own provider names.';

/** Free-text field for a model name, with the models of the service as suggestions. */
export function ModelField({ value, onChange, error }: ModelFieldProps) {
  const { data } = useQuery(models.all());
  const selected = data?.find(({ name, model_id: id }) => id !== null && name === value.trim());
  return (
    <Field label="Model" hint={(selected && describeModel(selected)) || HINT} error={error}>
      <Input
        value={value}
        onChange={(event) => onChange(event.target.value)}
        suggestions={modelChoices(data)}
        spellCheck={false}
        autoCapitalize="none"
        placeholder="rehearsal/echo"
        className="font-mono text-[13px]"
      />
    </Field>
  );
}
