import { useEffect } from 'react';
import { environments } from '../../api/environments.ts';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { useList, useNextPage } from '../lists/list.tsx';
import { useViewer } from '../people/viewer.ts';

export interface EnvironmentFieldProps {
  /** Empty for the default one. */
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** Where commands run. Administrators choose from all there are; others know an id, or take the default one. */
export function EnvironmentField(props: EnvironmentFieldProps) {
  const { isAdministrator } = useViewer();
  return isAdministrator ? <Chosen {...props} /> : <Named {...props} />;
}

function Chosen({ value, onChange, error }: EnvironmentFieldProps) {
  const { query, items } = useList(environments.list());
  const readOn = useNextPage(query);
  useEffect(() => readOn(), [readOn]);
  const others = items.filter(({ is_default: isDefault }) => !isDefault);
  const options = [
    { value: '', text: 'The default environment' },
    ...others.map(({ environment_id: id, name, enabled }) => ({
      value: id,
      text: enabled ? name : `${name} (disabled)`,
    })),
  ];
  // It may have gone, or is the default one by its id.
  if (!options.some((option) => option.value === value)) options.push({ value, text: value });
  return (
    <Field label="Environment" error={error}>
      <Select label="Environment" value={value} options={options} onChange={onChange} />
    </Field>
  );
}

function Named({ value, onChange, error }: EnvironmentFieldProps) {
  return (
    <Field
      label="Environment"
      optional
      hint="The id of an environment, from an administrator. Empty is the default one."
      error={error}
    >
      <Input
        className="font-mono text-[13px]"
        placeholder="env_…"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}
