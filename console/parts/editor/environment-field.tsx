import { useEffect } from 'react';
import { environments } from '../../api/environments.ts';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { useList, useLoadMore } from '../resources/list.tsx';
import { useViewer } from '../users/viewer.ts';

export interface EnvironmentFieldProps {
  /** Empty for the default environment. */
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** Environment of an agent. Administrators select from all environments; other users enter an id or use the default. */
export function EnvironmentField(props: EnvironmentFieldProps) {
  const { isAdministrator } = useViewer();
  return isAdministrator ? <EnvironmentSelect {...props} /> : <EnvironmentIdInput {...props} />;
}

function EnvironmentSelect({ value, onChange, error }: EnvironmentFieldProps) {
  const { query, items } = useList(environments.list());
  const loadMore = useLoadMore(query);
  useEffect(() => loadMore(), [loadMore]);
  const others = items.filter(({ is_default: isDefault }) => !isDefault);
  const options = [
    { value: '', text: 'Default environment' },
    ...others.map(({ environment_id: id, name, enabled }) => ({
      value: id,
      text: enabled ? name : `${name} (disabled)`,
    })),
  ];
  // The value may be a deleted environment, or the id of the default environment.
  if (!options.some((option) => option.value === value)) options.push({ value, text: value });
  return (
    <Field label="Environment" error={error}>
      <Select label="Environment" value={value} options={options} onChange={onChange} />
    </Field>
  );
}

function EnvironmentIdInput({ value, onChange, error }: EnvironmentFieldProps) {
  return (
    <Field
      label="Environment"
      optional
      hint="Environment ID from an administrator. Leave empty for the default environment."
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
