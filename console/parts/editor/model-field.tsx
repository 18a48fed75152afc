import { useQuery } from '@tanstack/react-query';
import { models } from '../../api/models.ts';
import { Field, Input } from '../../ui/field.tsx';
import { describeModel, modelChoices } from './model-choices.ts';

export interface ModelFieldProps {
  label?: string;
  optional?: boolean;
  /** Shown while the value is not a model of the service. */
  hint?: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

const HINT = '<provider>/<model ID>. Endpoints configured by the operator have their own provider names.';

/** Free-text field for a model name, with the models of the service as suggestions. */
export function ModelField({
  label = 'Model',
  optional = false,
  hint = HINT,
  placeholder = 'rehearsal/echo',
  value,
  onChange,
  error,
}: ModelFieldProps) {
  const { data } = useQuery(models.all());
  const selected = data?.find(({ name, model_id: id }) => id !== null && name === value.trim());
  return (
    <Field
      label={label}
      optional={optional}
      hint={(selected && describeModel(selected)) || hint}
      error={error}
    >
      <Input
        value={value}
        onChange={(event) => onChange(event.target.value)}
        suggestions={modelChoices(data)}
        spellCheck={false}
        autoCapitalize="none"
        placeholder={placeholder}
        className="font-mono text-[13px]"
      />
    </Field>
  );
}
